"""The page of `milepost trace inspect`: what a trace holds, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reports.page.answer import Number
from reports.page.document import render
from reports.page.panel import Panel, Range, described
from reports.page.tables import short
from reports.palette import BLUE, GREY, VERMILLION
from reports.trace.captions import CAPTIONS, percent, tokens
from reports.trace.charts import (
    COORDINATES,
    LENGTHS,
    memory_chart,
    time_unit,
    trace_charts,
    working_set_colours,
)
from reports.version import version
from simulator.base.files import write_text
from simulator.base.units import format_count, format_seconds

if TYPE_CHECKING:
    from reports.trace.memory import Memory
    from workloads.inspection import Inspection

GROUPS = {
    "Overlaps": ("survival", "concentration"),
    "What a cache could save": ("lru", "reuse", "popularity"),
    "Traffic": ("lengths", "turns", "dispersion"),
    "Over time": ("timeline", "working_set", "memory", "rate"),
}

COMMAND = "milepost trace inspect FILE --page PAGE.html"


def write_trace_page(
    path: Path, inspection: Inspection, command: str = COMMAND, memory: Memory | None = None
) -> None:
    """Write the page of a trace; whole, or not at all; `memory` adds working sets in bytes.

    Raises
    ------
    UsageError
        When the file cannot be written.
    """
    write_text(path, render_trace_page(inspection, command, memory))


def render_trace_page(
    inspection: Inspection, command: str = COMMAND, memory: Memory | None = None
) -> str:
    """Return the page of a trace as HTML; the same input gives the same bytes."""
    charts, captions = trace_charts(inspection), dict(CAPTIONS)
    held = None if memory is None else memory_chart(inspection, memory)
    if held is not None and memory is not None:
        charts["memory"] = held
        captions["memory"] = f"The working set, with {memory.profile}", memory.caption
    swatches = _swatches(inspection)
    panels = {
        name: Panel(name, title, caption(inspection), tuple(swatches.get(name, {}).items()))
        for name, (title, caption) in captions.items()
        if name in charts
    }
    groups = [
        (title, [panels[name] for name in names if name in panels])
        for title, names in GROUPS.items()
    ]
    return render(
        "trace.html",
        described(charts, panels.values()),
        brand="Milepost trace",
        title=f"What {inspection.name or 'the trace'} holds",
        version=version(),
        command=command,
        best=percent(inspection.ideal_token_hit_rate),
        fraction=_of(inspection.ideal_saved_tokens, inspection.prompt_tokens),
        at_ends=percent(inspection.end_only_token_hit_rate),
        numbers=_numbers(inspection),
        groups=[(title, shown) for title, shown in groups if shown],
        range=_range(inspection),
        headings=HEADINGS,
        rows=_rows(inspection),
        notes=_notes(inspection),
    )


def _range(inspection: Inspection) -> Range | None:
    """Return the whole time of the trace; None where it is too short for charts over time."""
    if len(inspection.working_sets.moments) < 2:
        return None
    name, size = time_unit(inspection)
    return Range(0, short(inspection.working_sets.moments[-1] / size), name)


def _swatches(inspection: Inspection) -> Mapping[str, Mapping[str, str]]:
    lengths = LENGTHS if inspection.output_tokens else {"prompts": LENGTHS["prompts"]}
    zipf = {} if inspection.popularity.zipf is None else {"Zipf's law": VERMILLION}
    return {
        "concentration": {f"from the {name}": colour for name, colour in COORDINATES.items()},
        "lengths": lengths,
        "working_set": working_set_colours(inspection),
        "memory": working_set_colours(inspection),
        "popularity": {"this trace": BLUE, **zipf},
        "dispersion": {"this trace": BLUE, "Poisson, 95 %": GREY},
    }


def _numbers(inspection: Inspection) -> list[Number]:
    law = inspection.coordinates.all
    span = "no times"
    if inspection.span_seconds is not None and inspection.arrivals is not None:
        span = f"in {format_seconds(inspection.span_seconds)}, "
        span += f"{inspection.arrivals.requests_per_second:.3g} a second"
    sharpest = "n/a" if law is None else law.sharpest
    held = "no prompt overlaps"
    if law is not None:
        share = getattr(law, law.sharpest).share_in_best_window
        held = f"{percent(share)} of overlaps end in {law.window_tokens} tokens"
    needed = inspection.lru.tokens_for_share["90%"]
    return [
        Number("Requests", format_count(inspection.requests), span),
        Number(
            "Prompt, mean",
            tokens(inspection.prompt_length.mean),
            f"output {tokens(inspection.output_length.mean)}"
            if inspection.output_tokens
            else "output unknown",
        ),
        Number("Sharpest coordinate", sharpest, held),
        Number("KV for 90 % of it", tokens(needed), "in an LRU cache, states not counted"),
    ]


HEADINGS = (
    "Label",
    "Requests",
    "That overlap",
    "Sharpest",
    "In one window, from the start",
    "From the end",
    "From the branch",
)


def _rows(inspection: Inspection) -> list[tuple[str, ...]]:
    """Return a row for each label, where there are several."""
    rows: list[tuple[str, ...]] = []
    for label, law in inspection.coordinates.by_label.items():
        requests = format_count(inspection.labels[label])
        if law is None:
            rows.append((label, requests, "0", "n/a", "n/a", "n/a", "n/a"))
            continue
        shares = (percent(each.share_in_best_window) for each in (law.start, law.end, law.branch))
        rows.append((label, requests, format_count(law.hits), law.sharpest, *shares))
    return rows if len(rows) > 1 else []


def _notes(inspection: Inspection) -> list[str]:
    notes = [str(note).rstrip(".") + "." for note in inspection.notes]
    if inspection.granularity > 1:
        block = format_count(inspection.granularity)
        notes.append(f"The trace tells overlaps to whole blocks of {block} tokens.")
    if inspection.arrivals is not None and inspection.arrivals.tick_is_artefact:
        notes.append(
            "Most arrivals share their time with others: a queue simulated on these times is "
            "longer than it was. --jitter SEED spreads them within their tick."
        )
    notes.append(
        "Savings are those of an unbounded cache, each request served before the next arrives; "
        "what a cache of a given size saves is the business of `milepost run`."
    )
    return notes


def _of(part: float, whole: float) -> str:
    return f"{format_count(part)} of {format_count(whole)}"
