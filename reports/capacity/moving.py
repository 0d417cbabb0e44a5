"""Searches for variations of the best answer (such as more traffic), all on the same grid."""

from __future__ import annotations

from reports.capacity.answers import Answer, Varied
from reports.capacity.candidates import Candidate
from reports.capacity.search import SearchResult
from reports.capacity.searching import Searching
from reports.capacity.target import Metric
from reports.capacity.variations import variations
from simulator.base.units import format_bytes

# Variations that are expected to need more memory than the base, and less.
MORE = ("traffic +20 %", "prompts 20 % longer", "a bigger model")
LESS = ("traffic -20 %", "KV in fp8", "states in int8")


def vary(
    searching: Searching, candidate: Candidate, result: SearchResult
) -> tuple[Answer, list[tuple[Candidate | None, Varied]]]:
    """Return a candidate's answer, searched again, and the answer under each variation.

    All searches use one grid, with every capacity to which any of them was extended. Otherwise one
    could appear to need less memory only because smaller capacities were tried for it alone.
    """
    varied = list(variations(candidate, searching))
    sought = [each.candidate for each in varied if each.candidate is not None]
    first = searching.results(sought, result.grid)
    grids = [end.grid for end in first if isinstance(end, SearchResult)]
    grid = sorted({*result.grid}.union(*grids))
    base, *answers = searching.answers(
        [candidate, *sought], searching.results_on([candidate, *sought], grid)
    )
    left, metric, moved = iter(answers), searching.target.metric, []
    for each in varied:
        answer = None if each.candidate is None else next(left)
        caution = against_expectation(each.name, answer, base, metric)
        item = Varied(name=each.name, note=each.note, answer=answer, caution=caution)
        moved.append((each.candidate, item))
    return base, moved


def against_expectation(
    name: str, answer: Answer | None, base: Answer, metric: Metric
) -> str | None:
    """Return a caution if a variation changes the memory needed against the expectation, else None.

    None also if the variation or the base has no capacity as its answer.
    """
    capacity, asked = None if answer is None else answer.capacity_bytes, base.capacity_bytes
    if answer is None or capacity is None or asked is None:
        return None
    less, more = capacity < asked, capacity > asked
    if not (less and name in MORE) and not (more and name in LESS):
        return None
    direction = "less" if less else "more"
    return (
        f"{name}: needs {direction} memory, against the expectation; "
        f"{_why(answer, base)}{_side_by_side(answer, base, max(capacity, asked), metric)}"
    )


def _why(answer: Answer, base: Answer) -> str:
    """Return the likeliest reason for a change against the expectation."""
    if _overlap(answer, base):
        return "the intervals overlap, so these data do not tell the two apart"
    if any(each.uneven or not each.halved for each in (answer, base)):
        return "more memory made the metric worse in places, so the least capacity jumps"
    return "the metric itself differs so"


def _overlap(*answers: Answer) -> bool:
    highs = [float("inf") if each.high_bytes is None else each.high_bytes for each in answers]
    return max(each.low_bytes or 0 for each in answers) <= min(highs)


def _side_by_side(answer: Answer, base: Answer, most: int, metric: Metric) -> str:
    """Return both metrics at the largest capacity that both tried, up to `most`, as text."""
    asked, then = (
        {trial.capacity_bytes: trial.value for trial in each.trials if trial.value is not None}
        for each in (base, answer)
    )
    shared = [size for size in asked if size in then and size <= most]
    if not shared:
        return ""
    at = max(shared)
    values = [
        f"{100 * value:.1f} %" if metric.unit == "share" else metric.shown(value)
        for value in (asked[at], then[at])
    ]
    return f": at {format_bytes(at)} {values[0]} as asked, {values[1]} then"
