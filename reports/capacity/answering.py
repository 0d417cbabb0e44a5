"""Answers made from finished capacity searches, also where no capacity meets the target.

Where none does, the answer gives a bound: the same traffic on a cache that keeps everything and has
a state at every position for free (placer `dense`, unbounded). A cache that saves fewer tokens does
not make the server faster, unless restores from the cache take longer than the prefill that they
save. So if the bound misses the target too, more memory does not help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from policies.pools import POOLS
from reports.capacity.answers import Answer, Bound, Knee, Pools, PoolUse, Tried, Worth
from reports.capacity.candidates import Candidate
from reports.capacity.evidence import Trial
from reports.capacity.price import GIB, HOUR_SECONDS, MILLION, Prices, steps
from reports.capacity.search import SIDES, Crossing, SearchResult
from reports.capacity.target import Target
from reports.results.metrics import LOAD_COLUMNS
from reports.results.overload import FIGURES

LOAD = tuple(LOAD_COLUMNS.get(name, name) for name in FIGURES)
MEANS = ("token_hit_rate", "ttft_mean_seconds", "ttft_p99_seconds", "cache_peak_bytes", *LOAD)


_NOTHING = SearchResult((), dict.fromkeys(SIDES, Crossing(None, None)), (), uneven=False)


def answer_of(candidate: Candidate, ended: SearchResult | str, prices: Prices | None) -> Answer:
    """Return the answer for a candidate; `ended` is its search, or the error of a failed cell."""
    policy = candidate.study.policy
    result = _NOTHING if isinstance(ended, str) else ended
    least, trials = result.least, result.trials
    return Answer(
        name=candidate.name,
        marks=candidate.marks,
        placer=policy.placer,
        eviction=policy.eviction,
        admission=policy.admission,
        profile=candidate.study.model.profile,
        error=ended if isinstance(ended, str) else None,
        capacity_bytes=None if least is None else least.capacity_bytes,
        low_bytes=result.low,
        high_bytes=result.high,
        missed_below_bytes=result.crossings["met"].below,
        value=None if least is None else least.value,
        method=(least or trials[-1]).method if trials else None,
        halved=result.crossings["met"].clean,
        uneven=result.uneven,
        missed_above_bytes=result.missed_above,
        trials=tuple(_tried(trial, prices) for trial in trials),
        knee=None if prices is None else knee(trials, prices),
        pools=None if least is None else _pools(least),
    )


def add_limits(
    answers: Sequence[tuple[Candidate | None, Answer | None]],
    target: Target,
    bounds_of: Callable[[Sequence[Candidate]], Sequence[Trial | str]],
) -> None:
    """Set `nearest`, `bound` and `memory_can_help` of each answer without a capacity.

    `bounds_of` simulates each candidate with a cache that keeps everything. Targets in dollars have
    no such bound, because more memory costs more.
    """
    missed: list[tuple[Candidate, Answer]] = []
    for candidate, answer in answers:
        if candidate is not None and answer is not None:
            answer.nearest = _nearest(answer, target)
            missed += [(candidate, answer)] if answer.nearest is not None else []
    if target.metric.unit == "dollars" or not missed:
        return
    bounds = bounds_of([candidate for candidate, _ in missed])
    for (_, answer), bound in zip(missed, bounds, strict=True):
        if isinstance(bound, Trial) and answer.nearest is not None:
            means = {name: bound.mean(name) for name in LOAD}
            answer.bound = Bound(value=_finite(bound.value), meets=bound.met, **means)
            beaten = target.rank(answer.nearest.value) < target.rank(answer.bound.value)
            answer.memory_can_help = None if beaten else bound.met


def _nearest(answer: Answer, target: Target) -> Tried | None:
    """Return the trial nearest to the target; without values, the one that served most requests."""
    if answer.error is not None or answer.capacity_bytes is not None:
        return None

    def merit(trial: Tried) -> tuple[bool, float, int]:
        none, rank = target.rank(trial.value)
        return none, trial.requests_not_served if none else rank, trial.capacity_bytes

    return min(answer.trials, key=merit, default=None)


def best_of(answers: Sequence[Answer], target: Target) -> int | None:
    """Return the index of the answer with the least capacity; of equals, the one of better value.

    Policies that could be deployed are preferred to upper bounds and to policies that use future
    requests. None if no answer has a capacity.
    """
    met = [
        (bool(answer.marks), answer.capacity_bytes, target.rank(answer.value), number)
        for number, answer in enumerate(answers)
        if answer.capacity_bytes is not None
    ]
    return min(met)[-1] if met else None


def _tried(trial: Trial, prices: Prices | None) -> Tried:
    return Tried(
        capacity_bytes=trial.capacity_bytes,
        value=_finite(trial.value),
        may_meet=trial.may,
        meets=trial.met,
        surely_meets=trial.sure,
        dollars_per_million_tokens=None if prices is None else _dollars(trial, prices),
        queue_grows=any(row.get("queue_grows") for row in trial.rows),
        extrapolated_requests=_total(trial, "extrapolated_requests"),
        requests_not_served=_total(trial, "requests_rejected")
        + _total(trial, "requests_unfinished"),
        **{name: trial.mean(name) for name in MEANS},
    )


def _pools(trial: Trial) -> Pools | None:
    """Return capacity and mean peak of each pool of a split cache; None for an undivided cache."""
    if any(row.get("pool_kv_capacity_bytes") is None for row in trial.rows):
        return None
    names = ("capacity_bytes", "peak_bytes")
    means: dict[str, Any] = {
        pool: {name: trial.mean(f"pool_{pool}_{name}") for name in names} for pool in POOLS
    }
    return Pools(**{pool: PoolUse(**both) for pool, both in means.items()})


def _dollars(trial: Trial, prices: Prices) -> float | None:
    """Return the cost of memory and busy GPU per million prompt tokens; None if none is served."""
    spent = _spent(trial, prices)
    return spent and prices.dollars_per_gib_hour * spent[0] + spent[1]


def knee(trials: Sequence[Trial], prices: Prices) -> Knee | None:
    """Return the cheapest capacity tried, and the range of memory prices in which it is cheapest.

    None if nothing was tried, or if a trial has no time span or served no tokens.
    """
    spent = [both for trial in trials if (both := _spent(trial, prices)) and both[0]]
    if not spent or len(spent) < len(trials):
        return None
    price = prices.dollars_per_gib_hour
    corners = steps([hours for hours, _ in spent], [dollars for _, dollars in spent])
    worth = tuple(
        Worth(
            capacity_bytes=trials[step.number].capacity_bytes,
            dollars_per_gib_hour=_finite(step.dollars_per_gib_hour),
        )
        for step in corners
    )
    at = max(index for index, step in enumerate(corners) if step.dollars_per_gib_hour >= price)
    hours, dollars = spent[corners[at].number]
    return Knee(
        capacity_bytes=worth[at].capacity_bytes,
        dollars_per_million_tokens=price * hours + dollars,
        smaller_above_dollars=worth[at].dollars_per_gib_hour,
        larger_below_dollars=worth[at + 1].dollars_per_gib_hour if worth[at + 1 :] else None,
        dollars_per_gib_hour=price,
        worth=worth,
    )


def _spent(trial: Trial, prices: Prices) -> tuple[float, float] | None:
    """Return GiB-hours, and dollars of the GPU, per million prompt tokens served."""
    millions = _total(trial, "served_tokens") / MILLION
    if not millions:
        return None
    hours = _total(trial, "span_seconds") / HOUR_SECONDS
    gpu = prices.gpu_dollars(_total(trial, "busy_seconds"))
    return trial.capacity_bytes / GIB * hours / millions, gpu / millions


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _total(trial: Trial, name: str) -> float:
    return float(sum(row[name] for row in trial.rows))
