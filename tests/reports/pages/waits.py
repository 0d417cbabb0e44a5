"""Example of a plug-in page type: how long requests wait, read from `waits.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from reports.caveats import coarse_clock
from reports.report import Number, Panel, Panels, Report, Section, Strong, Table
from simulator.base.units import format_seconds

FILE = "waits.json"


def waits_report(found: Mapping[str, Any]) -> Report:
    seconds = found["waits_seconds"]
    longest = max(seconds)
    frame = pl.DataFrame({"request": range(len(seconds)), "seconds": seconds})
    chart = alt.Chart(frame).mark_line().encode(x="request:Q", y="seconds:Q")
    rows = [(f"{share} %", format_seconds(_quantile(seconds, share))) for share in (50, 90, 100)]
    table = Table(title="Quantiles", id="quantiles", head=("Share", "Waits at most"), rows=rows)
    return Report(
        kind="waits",
        title=f"How long requests of {found['trace']} wait",
        sections=(
            Section(
                answer=("The longest wait is ", Strong(format_seconds(longest)), "."),
                numbers=(Number("Requests", f"{len(seconds):,}", found["trace"]),),
                blocks=(
                    Panels(title="Over time", panels=(Panel("waits", "Waits", "Each.", chart),)),
                    table,
                ),
            ),
        ),
        caveats=tuple(coarse_clock(artefact=found["coarse_clock"])),
        command="milepost waits",
        data=found,
        data_file=FILE,
    )


def kept_report(folder: Path) -> Report:
    return waits_report(json.loads((folder / FILE).read_text()))


def _quantile(seconds: list[float], share: int) -> float:
    return sorted(seconds)[-(-len(seconds) * share // 100) - 1]
