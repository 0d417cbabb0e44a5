"""What a search found, as plain values: for JSON, for sentences, for the page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from policies.pools import POOLS
from reports.capacity.candidates import Candidate
from reports.capacity.evidence import Trial
from reports.capacity.price import GIB, HOUR_SECONDS, MILLION, Prices, steps
from reports.capacity.search import SearchResult
from reports.capacity.target import Target

Answer = dict[str, Any]

_UNKNOWN: tuple[str, ...] = (
    "capacity_bytes",
    "low_bytes",
    "high_bytes",
    "missed_below_bytes",
    "value",
    "method",
    "knee",
    "pools",
)
LOAD = (
    "offered_load",
    "offered_load_nothing_saved",
    "offered_load_last_half",
    "server_utilisation",
    "wait_last_quarter_seconds",
)
_MEANS = (
    "token_hit_rate",
    "ttft_mean_seconds",
    "ttft_p99_seconds",
    "cache_peak_bytes",
    *LOAD,
)


def answer_of(candidate: Candidate, ended: SearchResult | str, prices: Prices | None) -> Answer:
    """Return the answer for a candidate; `ended` is an error where a cell failed."""
    policy = candidate.study.policy
    answer: Answer = {
        "name": candidate.name,
        "marks": list(candidate.marks),
        "placer": policy.placer,
        "eviction": policy.eviction,
        "admission": policy.admission,
        "profile": candidate.study.model.profile,
        "error": ended if isinstance(ended, str) else None,
    }
    return answer | (_nothing() if isinstance(ended, str) else _of_result(ended, prices))


def _nothing() -> Answer:
    return dict.fromkeys(_UNKNOWN) | {
        "halved": True,
        "uneven": False,
        "missed_above_bytes": [],
        "trials": [],
    }


def _of_result(result: SearchResult, prices: Prices | None) -> Answer:
    least = result.least
    trials = [_trial(trial, prices) for trial in result.trials]
    return {
        "capacity_bytes": least and least.capacity_bytes,
        "low_bytes": result.low,
        "high_bytes": result.high,
        "missed_below_bytes": result.crossings["met"].below,
        "value": least and least.value,
        "method": result.trials[-1].method if least is None else least.method,
        "halved": result.crossings["met"].clean,
        "uneven": result.uneven,
        "missed_above_bytes": list(result.missed_above),
        "trials": trials,
        "knee": None if prices is None else knee(result.trials, prices),
        "pools": None if least is None else _pools(least),
    }


def _pools(trial: Trial) -> dict[str, Any] | None:
    """Return capacity and mean peak of each pool of a split cache; None where there is one."""
    if any(row.get("pool_kv_capacity_bytes") is None for row in trial.rows):
        return None
    names = ("capacity_bytes", "peak_bytes")
    return {pool: {name: trial.mean(f"pool_{pool}_{name}") for name in names} for pool in POOLS}


def _trial(trial: Trial, prices: Prices | None) -> dict[str, Any]:
    dollars = None if prices is None else dollars_per_million_tokens(trial, prices)
    return {
        "capacity_bytes": trial.capacity_bytes,
        "value": _finite(trial.value),
        "may_meet": trial.may,
        "meets": trial.met,
        "surely_meets": trial.sure,
        "dollars_per_million_tokens": dollars,
        **{name: trial.mean(name) for name in _MEANS},
        "queue_grows": any(row.get("queue_grows") for row in trial.rows),
        "extrapolated_requests": _total(trial, "extrapolated_requests"),
        "requests_not_served": _total(trial, "requests_rejected")
        + _total(trial, "requests_unfinished"),
    }


def dollars_per_million_tokens(trial: Trial, prices: Prices) -> float | None:
    """Return what memory and busy GPU cost, per million prompt tokens served; None for none."""
    spent = _spent(trial, prices)
    return spent and prices.dollars_per_gib_hour * spent[0] + spent[1]


def knee(trials: Sequence[Trial], prices: Prices) -> dict[str, Any] | None:
    """Return the cheapest capacity tried, and the prices of memory between which it stays so.

    None where no time passes or nothing is served.
    """
    spent = [both for trial in trials if (both := _spent(trial, prices)) and both[0]]
    if len(spent) < len(trials):
        return None
    corners = steps([hours for hours, _ in spent], [dollars for _, dollars in spent])
    worth = [
        {
            "capacity_bytes": trials[step.number].capacity_bytes,
            "dollars_per_gib_hour": _finite(step.dollars_per_gib_hour),
        }
        for step in corners
    ]
    price = prices.dollars_per_gib_hour
    at = max(index for index, step in enumerate(corners) if step.dollars_per_gib_hour >= price)
    return {
        "capacity_bytes": worth[at]["capacity_bytes"],
        "dollars_per_million_tokens": dollars_per_million_tokens(
            trials[corners[at].number], prices
        ),
        "smaller_above_dollars": worth[at]["dollars_per_gib_hour"],
        "larger_below_dollars": worth[at + 1]["dollars_per_gib_hour"] if worth[at + 1 :] else None,
        "dollars_per_gib_hour": price,
        "worth": worth,
    }


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


def best_of(answers: Sequence[Answer], target: Target) -> int | None:
    """Return the number of the answer with the least capacity, by the better value of equals.

    A fair competitor, where there is one.
    """
    met = [n for n, answer in enumerate(answers) if answer["capacity_bytes"] is not None]
    fair = [n for n in met if not answers[n]["marks"]] or met
    sign = 1 if target.metric.less_is_better else -1

    def merit(number: int) -> tuple[int, float]:
        answer = answers[number]
        return answer["capacity_bytes"], sign * answer["value"]

    return min(fair, key=merit, default=None)


def _total(trial: Trial, name: str) -> float:
    return float(sum(row[name] for row in trial.rows))
