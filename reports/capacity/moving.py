"""Variations of the best answer, each sought on the same capacities as the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.capacity.answers import Answer
from reports.capacity.candidates import Candidate
from reports.capacity.search import SearchResult
from reports.capacity.searching import Searching
from reports.capacity.target import metric_named
from reports.capacity.variations import Variation, variations
from simulator.base.units import format_bytes

Item = dict[str, Any]

# What each variation should do to the memory that is needed; of prompts and models more is asked.
MORE = ("traffic +20 %", "prompts 20 % longer", "a bigger model")
LESS = ("traffic -20 %", "KV in fp8", "states in int8")


@dataclass(frozen=True, slots=True)
class Moved:
    """The answer of a candidate anew, and that of every variation of it.

    Parameters
    ----------
    base
        The answer as asked.
    items
        A variation each: `name`, `note` (what it rests on, or why it cannot be), `answer`, and as
        `caution` what is against the expectation.
    pairs
        The candidates of those that have an answer, with it.
    """

    base: Answer
    items: list[Item]
    pairs: list[tuple[Candidate, Answer]]


def vary(searching: Searching, candidate: Candidate, result: SearchResult) -> Moved:
    """Return how the answer of a candidate moves.

    All are sought on one grid, which holds whatever capacity one of them was extended to: else one
    would seem to need less memory only because less was tried for it alone.
    """
    varied = list(variations(candidate, searching.workshop))
    sought = [each.candidate for each in varied if each.candidate is not None]
    first = searching.results(sought, result.grid)
    grids = [end.grid for end in first if isinstance(end, SearchResult)]
    grid = sorted({*result.grid}.union(*grids))
    base, *answers = searching.answers(
        [candidate, *sought], searching.results_on([candidate, *sought], grid)
    )
    items = _items(varied, answers)
    metric = searching.target.metric.name
    for item in items:
        item["caution"] = against_expectation(item, base, metric)
    return Moved(base, items, list(zip(sought, answers, strict=True)))


def _items(varied: Sequence[Variation], answers: Sequence[Answer]) -> list[Item]:
    left = iter(answers)
    return [
        {"name": v.name, "note": v.note, "answer": None if v.candidate is None else next(left)}
        for v in varied
    ]


def against_expectation(item: Item, base: Answer, metric_name: str) -> str | None:
    """Return what to say of a variation that asks for more and needs less memory, or the reverse.

    None where it does not, or has no answer.
    """
    answer = item["answer"]
    capacity = answer and answer["capacity_bytes"]
    if capacity is None:
        return None
    less = capacity < base["capacity_bytes"]
    more = capacity > base["capacity_bytes"]
    if not (less and item["name"] in MORE) and not (more and item["name"] in LESS):
        return None
    direction = "less" if less else "more"
    return (
        f"{item['name']}: needs {direction} memory, against the expectation; "
        f"{_why(answer, base)}{_side_by_side(answer, base, metric_name)}"
    )


def _why(answer: Answer, base: Answer) -> str:
    """Return the likeliest reason that the figures themselves tell."""
    if _overlap(answer, base):
        return "the intervals overlap, so these data do not tell the two apart"
    if any(each["uneven"] or not each["halved"] for each in (answer, base)):
        return "more memory made the metric worse in places, so the least capacity jumps"
    return "the metric itself differs so"


def _overlap(answer: Answer, base: Answer) -> bool:
    low, high = zip(*(_ends(each) for each in (answer, base)), strict=True)
    return bool(max(low) <= min(high))


def _ends(answer: Answer) -> tuple[float, float]:
    high = answer["high_bytes"]
    return answer["low_bytes"] or 0, float("inf") if high is None else high


def _side_by_side(answer: Answer, base: Answer, metric_name: str) -> str:
    """Return both values at the smaller of the two answers, or at what both tried below it."""
    values: list[Mapping[int, float]] = [
        {t["capacity_bytes"]: t["value"] for t in each["trials"] if t["value"] is not None}
        for each in (base, answer)
    ]
    most = max(answer["capacity_bytes"], base["capacity_bytes"])
    shared = [size for size in values[0] if size in values[1] and size <= most]
    if not shared:
        return ""
    at, shown = max(shared), metric_named(metric_name).shown
    return f": at {format_bytes(at)} {shown(values[0][at])} as asked, {shown(values[1][at])} then"
