"""The report of `milepost compare`: the settings that differ, then the figures that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.caveats import corrected
from reports.compare.charts import ChartGroup, chart_groups, comparison_chart
from reports.compare.measures import in_order
from reports.compare.outcome import Compared, TwoRuns
from reports.compare.shown import counted, evidence, lost_rows, moved_words, place_words, row_of
from reports.compare.stored import JSON, PAGE, document_of, read_comparison
from reports.report import (
    Code,
    Listing,
    Panel,
    Panels,
    Report,
    ReportBlock,
    Section,
    Sentence,
    Strong,
    Table,
)
from reports.words import capital, sentence
from simulator.base.units import format_bytes

HEAD = ("B is", "B - A", "95 % interval", "A", "B", "of A", "Holm p")


def comparison_report(runs: TwoRuns, failures: Sequence[str], command: str) -> Report:
    """Return the report of a comparison.

    Parameters
    ----------
    runs
        Results A and B with their compared figures.
    failures
        One line for each change that exceeds a limit set by the user.
    command
        The command line that makes the report again.
    """
    return report_of(runs, document_of(runs, failures, command))


def kept_report(folder: Path) -> Report:
    """Return the report of a comparison stored in a folder.

    Raises
    ------
    DataError
        When the comparison is damaged or was written by a newer version.
    """
    return report_of(*read_comparison(folder))


def report_of(runs: TwoRuns, kept: Mapping[str, Any]) -> Report:
    """Return the report of a comparison, of which `kept` is the content of its JSON file."""
    failed = ((Strong("Beyond its limit:"), f" {line}.") for line in kept["failed"])
    return Report(
        kind="comparison",
        title=f"{runs.b} against {runs.a}",
        sections=(
            Section(
                answer=_answer(runs),
                also=(_names(runs), *_counted(runs), *failed),
                blocks=(_changes(runs), *_panels(runs), _figures(runs), *_lost(runs)),
            ),
        ),
        caveats=_caveats(runs),
        command=kept["command"],
        data=kept,
        data_title="Everything that was computed",
        page_file=PAGE,
        data_file=JSON,
        milepost_version=kept["milepost_version"],
    )


def _answer(runs: TwoRuns) -> str:
    """Return the outcome of the comparison in one sentence."""
    if runs.kind == "sweep":
        return sentence(counted(runs))
    clauses = [_clause(each) for each in runs.comparisons if each.change is not None]
    return f"Against A, B has {'; '.join(clauses)}." if clauses else "Nothing can be compared."


def _clause(compared: Compared) -> str:
    """Return "a worse token hit rate: 34.78 %, -6.19 points (-7.71 to -4.67)"."""
    measure, verdict = compared.measure, compared.verdict
    name = measure.words
    if verdict == "equal":
        return f"the same {name}: {measure.shown(compared.b)}"
    interval = measure.shown_interval(compared.low, compared.high)
    change = f"{measure.shown_difference(compared.change)} ({interval})"
    words = {
        "tied": f"a {name} that is tied",
        "unsure": f"a {name} that may be better or worse",
        "unknown": f"a {name} without an interval",
    }
    claim = words.get(verdict, f"a {verdict} {name}")
    return f"{claim}: {measure.shown(compared.b)}, {change}"


def _names(runs: TwoRuns) -> Sentence:
    moved = moved_words(runs)
    return ("A: ", Code(runs.a), ". B: ", Code(runs.b), f". {capital(moved)}." if moved else ".")


def _counted(runs: TwoRuns) -> list[str]:
    """Return how many figures of two runs are better, worse and so on.

    Nothing for sweeps, whose answer is this sentence already.
    """
    return [sentence(counted(runs))] if runs.kind == "run" else []


def _changes(runs: TwoRuns) -> ReportBlock:
    """Return the settings that differ."""
    title = "What was asked differently"
    if not runs.changes:
        return Listing(
            title=title, items=[("Nothing: settings, trace and versions are the same.", "")]
        )
    rows = [(c.key, _setting(c.key, c.a), _setting(c.key, c.b)) for c in runs.changes]
    return Table(title=title, id="changes", head=("Setting", "A", "B"), rows=rows, literal=True)


def _panels(runs: TwoRuns) -> list[ReportBlock]:
    title = "What came of it"
    panels = tuple(_panel(runs, group) for group in chart_groups(runs))
    if panels:
        return [Panels(title=title, panels=panels)]
    return [
        Listing(title=title, items=[("No figure that both have differs.", "")], on_terminal=False)
    ]


def _panel(runs: TwoRuns, group: ChartGroup) -> Panel:
    how = "Paired, request by request" if runs.paired else "Two samples that share nothing"
    if runs.kind == "sweep" and runs.paired:
        how = "Paired, replication by replication or block by block"
    more = f" {group.left_out} more are in the table." if group.left_out else ""
    return Panel(
        group.id,
        group.title,
        f"{how}. Bars: 95 % intervals.{more}",
        comparison_chart(runs, group),
        group.swatches,
        image_title=f"{group.title}, B less A",
    )


def _figures(runs: TwoRuns) -> Table:
    """Return a table with a row for each figure, or for sweeps each figure of each cell."""
    order = sorted(runs.comparisons, key=lambda each: in_order(each.measure))
    rows = [(_row_name(each, runs.kind), *row_of(each)) for each in order]
    head = ("Figure" if runs.kind == "run" else "Cell", *HEAD)
    return Table(title="Every figure", id="figures", head=head, rows=rows, rest=JSON)


def _row_name(compared: Compared, kind: str) -> str:
    if kind == "run":
        return compared.measure.name
    return f"{compared.measure.name}: {place_words(compared.place)}"


def _lost(runs: TwoRuns) -> list[ReportBlock]:
    rows = lost_rows(runs)
    head = ("Because", "A", "B", "B - A")
    return (
        [Table(title="Tokens that were not saved", id="lost", head=head, rows=rows)] if rows else []
    )


def _caveats(runs: TwoRuns) -> tuple[str, ...]:
    return (
        sentence(evidence(runs)),
        *corrected(sum(each.tested for each in runs.comparisons), runs.margins),
        "An interval tells how far a difference would move with other requests from the same "
        "traffic, not whether your traffic is like it, nor how wrong the costs are.",
        *(() if runs.paired else ("Unpaired: far wider than pairs of the same requests.",)),
        *(sentence(note) for note in runs.notes),
    )


def _setting(key: str, value: Any) -> str:
    if key == "cache.capacity" and isinstance(value, int):
        return format_bytes(value)
    return "\N{EN DASH}" if value is None else str(value)
