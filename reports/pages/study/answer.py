"""The answer for one world in a sentence, and its key numbers.

A world is the workload, profile and server that the compared policies share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.charts.bars import explained
from reports.report import Code, Number, Strong
from reports.results.metrics import load_of_row
from reports.results.overload import busy
from reports.results.points import Point, WorldPoints
from reports.statistics import Estimate
from reports.words import first_of, known, percent
from simulator.base.units import format_bytes, format_count, format_seconds

MOST_TIED = 4


def answer(world: WorldPoints) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parts of the answer, and of the sentences on policies that match the best.

    The answer names the best policy of the world: the workload, profile and server that policies
    share.
    """
    best = world.best
    if best is None:
        return (_no_answer(world),), ()
    sentence = [
        *_where(world),
        Code(best.series.name),
        f" ({', '.join(best.series.marks)}) saves " if best.series.marks else " saves ",
        Strong(f"{percent(best.share('saved_tokens'))} of prompt tokens"),
        f" ({_fraction(best)})",
        *_compared(world, best),
        ".",
    ]
    return tuple(sentence), tuple(_like(world, best))


def key_numbers(world: WorldPoints) -> tuple[Number, ...]:
    """Return token hit rate, TTFT, realised bytes and checkpoint bytes of the best policy."""
    best = world.best
    if best is None:
        return ()
    ttft, p99 = best.ttft_seconds, best.mean("ttft_p99_seconds")
    held, peak = best.mean("cache_mean_bytes"), best.mean("cache_peak_bytes")
    written, states = best.mean("checkpoints_mean_per_request"), best.mean("checkpoints_peak_bytes")
    tail = f"P99 {format_seconds(p99)}" if p99 is not None else "P99 n/a (n < 368)"
    load = load_of_row(best.mean)
    tail += "" if load["utilisation"] is None else f"; server busy {busy(load)}"
    tail += ", its queue grows" if load["queue_grows"] else ""
    return (
        Number("Token hit rate", percent(best.share("saved_tokens")), _of_what(best)),
        Number("Mean time to first token", format_seconds(ttft.value) if ttft else "n/a", tail),
        Number(
            "Realised bytes, mean", known(held, format_bytes), f"peak {known(peak, format_bytes)}"
        ),
        Number(
            "Checkpoints, peak",
            known(states, format_bytes),
            f"{written:.2f} written a request" if written is not None else "",
        ),
    )


def _where(world: WorldPoints) -> list[str]:
    """Return the capacity, the name of the world, and the placer where no series names it."""
    parts = [f"At {world.place}, on {world.name}, " if world.name else f"At {world.place}, "]
    if all(series.placer not in series.name for series in world.series):
        parts += [
            "under the placer ",
            Code(world.series[0].placer),
            ", ",
        ]
    return parts


def _compared(world: WorldPoints, best: Point) -> list[str]:
    theirs = world.baseline_of(best)
    rate, ttft = best.token_hit_rate_difference, best.ttft_difference
    if theirs is None:
        return _runner_up(world, best)
    if rate is None:
        return ["; the baseline has no result to compare with"]
    parts = [", ", *_difference(rate, theirs.series.name, world)]
    if ttft is not None:
        if ttft.verdict == "equal":
            return [*parts, "; their mean TTFT is the same"]
        faster = "lower" if ttft.value < 0 else "higher"
        ends = {
            "tied": f", tied within {world.margins.of_times}",
            "unsure": ", which may be chance too"
            if rate.verdict == "unsure"
            else _chance(ttft, world.comparisons),
        }
        parts.append(f"; its mean TTFT is {_size(ttft)} {faster}{ends.get(ttft.verdict, '')}")
    return parts


def _runner_up(world: WorldPoints, best: Point) -> list[str]:
    """Return how far the second-best policy is behind, where the best is the baseline itself."""
    others = [p for p in world.at(world.focus) if p is not best and p.token_hit_rate]
    fair = [p for p in others if not p.series.marks]
    if not fair:
        return []
    follower = max(fair, key=lambda p: p.token_hit_rate.value if p.token_hit_rate else 0.0)
    gap = world.gap(follower)
    if gap is None:
        return []
    return [
        "; it is the baseline, ",
        *_difference(gap, follower.series.name, world),
    ]


def _difference(rate: Estimate, other: str, world: WorldPoints) -> list[str]:
    """Return "12.3 points [11.0, 13.4] more than OTHER"."""
    if rate.verdict == "equal":
        return ["the same as ", Code(other)]
    if rate.verdict == "tied":
        text = f" within {world.margins.of_rates} ({explained(rate, 0.01, 'points')})"
        return ["tied with ", Code(other), text]
    more = "more" if rate.value >= 0 else "fewer"
    text = explained(_positive(rate), 0.01, "points").lstrip("+")
    alone = "" if rate.low is not None else " (no interval)"
    parts = [
        Strong(text),
        f"{alone} {more} than ",
        Code(other),
    ]
    unsure = rate.verdict == "unsure"
    return [*parts, _chance(rate, world.comparisons)] if unsure else parts


def _chance(difference: Estimate, comparisons: int) -> str:
    """Return why a difference is not significant: its interval, or only Holm's correction."""
    if difference.covers_zero:
        return ", which may be chance"
    return f", which may be chance among {comparisons:,} comparisons"


def _positive(estimate: Estimate) -> Estimate:
    """Return the absolute value of a difference, with its interval."""
    return estimate if estimate.value >= 0 else estimate.opposite


def _size(ttft: Estimate) -> str:
    """Return "40 ms [35 ms, 45 ms]", without the sign, which the sentence gives in words."""
    size = _positive(ttft)
    if size.low is None or size.high is None:
        return f"{format_seconds(size.value)} (no interval)"
    ends = f"{_signed_seconds(size.low)}, {_signed_seconds(size.high)}"
    return f"{format_seconds(size.value)} [{ends}]"


def _signed_seconds(value: float) -> str:
    return ("\N{MINUS SIGN}" if value < 0 else "") + format_seconds(abs(value))


def _like(world: WorldPoints, best: Point) -> Iterator[str]:
    """Yield which policies equal the best, are tied with it, or do not differ significantly.

    Bounds and policies that look ahead cannot be deployed, so they are named only where equal.
    """
    rivals = [p for p in world.at(world.focus) if p is not best and p.token_hit_rate]
    gaps = [(rival, gap) for rival in rivals if (gap := world.gap(rival))]
    equal = [rival for rival, gap in gaps if gap.verdict == "equal"]
    tied = [rival for rival, gap in gaps if gap.verdict == "tied"]
    unsure = [r for r, gap in gaps if gap.verdict == "unsure" and not r.series.marks]
    if equal:
        yield f"With the same result: {_listed(equal)}."
    if tied:
        yield f"Tied with it, within {world.margins.of_rates}: {_listed(tied)}."
    if unsure:
        yield (
            f"Unsure, as the difference may be chance among {world.comparisons:,} comparisons: "
            f"{_listed(unsure)}."
        )


def _listed(points: Sequence[Point]) -> str:
    """Return the names of the first few points by hit rate, and how many more there are."""
    ranked = sorted(points, key=lambda p: -p.token_hit_rate.value if p.token_hit_rate else 0.0)
    return first_of([point.series.label for point in ranked], MOST_TIED)


def _no_answer(world: WorldPoints) -> str:
    points = list(world.points.values())
    where = f" on {world.name}" if world.name else ""
    if not any(point.rows for point in points):
        return f"No answer{where}: every cell failed."
    return f"No answer{where}: no request was counted, so there are no prompt tokens to save."


def _fraction(point: Point) -> str:
    saved, prompts = point.total("saved_tokens"), point.total("prompt_tokens")
    return f"{format_count(saved)} of {format_count(prompts)}"


def _of_what(point: Point) -> str:
    share = point.share_of_bound
    best = f"; {percent(share)} of the best possible" if share is not None else ""
    return f"{_fraction(point)} prompt tokens{best}"
