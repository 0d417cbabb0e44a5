"""The page of `milepost compare`: what was asked differently first, then what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reports.compare.charts import comparison_charts, panels, words_of
from reports.compare.measures import in_order
from reports.compare.outcome import Compared, TwoRuns
from reports.compare.shown import (
    HEAD,
    counted,
    evidence,
    lost_rows,
    moved_words,
    place_words,
    row_of,
)
from reports.page.document import render
from reports.page.panel import described

MOST_ROWS = 500


def render_comparison(runs: TwoRuns, kept: Mapping[str, Any]) -> str:
    """Return the page as HTML; the same input gives the same bytes.

    Parameters
    ----------
    runs
        The comparison.
    kept
        The same as it is stored, with command, version and failed limits.
    """
    around = panels(runs)
    order = sorted(runs.comparisons, key=lambda each: in_order(each.measure))
    rows = [(_name(each, runs.kind), *row_of(each)) for each in order]
    return render(
        "two_runs.html",
        described(comparison_charts(runs), around),
        brand="Milepost comparison",
        title=f"{runs.b} against {runs.a}",
        version=kept["milepost_version"],
        runs=runs,
        answer=answer(runs),
        failed=kept["failed"],
        changes=[(c.key, _shown(c.a), _shown(c.b)) for c in runs.changes],
        panels=around,
        head=("Figure" if runs.kind == "run" else "Cell", *HEAD),
        rows=rows[:MOST_ROWS],
        more_rows=max(0, len(rows) - MOST_ROWS),
        lost=lost_rows(runs),
        moved=_sentence(moved_words(runs)),
        notes=_notes(runs),
        command=kept["command"],
        json_text=json.dumps(dict(kept), indent=2, ensure_ascii=False),
    )


def answer(runs: TwoRuns) -> str:
    """Return what came of it in one sentence."""
    if runs.kind == "sweep":
        return _sentence(counted(runs))
    clauses = [_clause(each) for each in runs.comparisons if each.change is not None]
    return f"Against A, B has {'; '.join(clauses)}." if clauses else "Nothing can be compared."


def _clause(compared: Compared) -> str:
    """Return "a worse token hit rate: 34.78 %, -6.19 points (-7.71 to -4.67)"."""
    measure, gap, name = compared.measure, compared.difference, words_of(compared.measure.name)
    ends = (gap.low, gap.high) if gap else (None, None)
    verdict = compared.verdict
    if verdict == "equal":
        return f"the same {name}: {measure.shown(compared.b)}"
    interval = measure.shown_interval(*ends)
    change = f"{measure.shown_difference(compared.change)} ({interval})"
    words = {
        "tied": f"a {name} that is tied",
        "unsure": f"a {name} that may be better or worse",
        "unknown": f"a {name} without an interval",
    }
    claim = words.get(verdict, f"a {verdict} {name}")
    return f"{claim}: {measure.shown(compared.b)}, {change}"


def _name(compared: Compared, kind: str) -> str:
    """Return what a row of the table is of."""
    if kind == "run":
        return compared.measure.name
    return f"{compared.measure.name}: {place_words(compared.place)}"


def _notes(runs: TwoRuns) -> list[str]:
    """Return what a reader should weigh."""
    return [
        _sentence(evidence(runs)),
        "“Better” and “worse” stand Holm's correction for "
        f"{sum(each.tested for each in runs.comparisons):,} comparisons: the chance that any such "
        "claim is false is at most 5 %. “Tied”: the whole interval is within "
        f"{runs.margins.text}. “Unsure” is every other difference that has an interval.",
        "An interval tells how far a difference would move with other requests from the same "
        "traffic, not whether your traffic is like it, nor how wrong the costs are.",
        *(() if runs.paired else ("Unpaired: far wider than pairs of the same requests.",)),
        *(_sentence(note) for note in runs.notes),
    ]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _shown(value: Any) -> str:
    return "\N{EN DASH}" if value is None else str(value)
