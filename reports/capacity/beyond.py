"""Answers where no capacity meets a target: how near it came, and whether memory can help.

The bound is the same traffic on a cache that keeps everything, with a state at every position for
free (placer `dense`, unbounded). Nothing that saves less makes a server faster, but for restores
that cost more than what they save; so a target that it misses needs something else than memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.capacity.answers import LOAD, Answer
from reports.capacity.candidates import Candidate
from reports.capacity.evidence import Trial
from reports.capacity.target import Metric, Target, metric_named
from reports.capacity.workshop import Workshop
from reports.results.metrics import load_of_row
from reports.results.overload import busy, offered
from simulator.base.units import format_bytes

CARRIED = 0.02  # so much busier than its load: it works off what waited before
BACKLOG = (
    "; it also works off what waited before the first counted request, so a longer warm-up may "
    "give another answer"
)
Report = Mapping[str, Any]


def add_limits(
    answers: Sequence[tuple[Candidate, Answer]], target: Target, workshop: Workshop
) -> None:
    """Add to each answer without a capacity the nearest trial, `nearest`, and the `bound`.

    Both are None for the others. The bound is None too of costs, for which memory is paid.
    """
    for _, answer in answers:
        limits = {"nearest": _nearest(answer, target), "bound": None, "memory_can_help": None}
        answer.update(limits)
    missed = [pair for pair in answers if pair[1]["nearest"] is not None]
    if target.metric.unit == "dollars" or not missed:
        return
    bounds = workshop.bounds([candidate for candidate, _ in missed])
    for (_, answer), bound in zip(missed, bounds, strict=True):
        if isinstance(bound, Trial):
            answer.update(_bounded(answer, bound, target))


def _bounded(answer: Answer, bound: Trial, target: Target) -> dict[str, Any]:
    value = None if bound.value == target.worst else bound.value
    best = answer["nearest"]["value"]
    sign = 1 if target.metric.less_is_better else -1
    beaten = best is not None and (value is None or sign * best < sign * value)
    figures = {"value": value, "meets": bound.met, **{name: bound.mean(name) for name in LOAD}}
    return {"bound": figures, "memory_can_help": None if beaten else bound.met}


def _nearest(answer: Answer, target: Target) -> dict[str, Any] | None:
    """Return the trial nearest to the target; where none has a value, the one that served most."""
    if answer["error"] is not None or answer["capacity_bytes"] is not None:
        return None
    sign = 1 if target.metric.less_is_better else -1

    def merit(trial: Mapping[str, Any]) -> tuple[bool, float, int]:
        value = trial["value"]
        rank = trial["requests_not_served"] if value is None else sign * value
        return value is None, rank, trial["capacity_bytes"]

    return min(answer["trials"], key=merit, default=None)


def nearest_words(answer: Answer, metric: Metric) -> str:
    """Return "4.1 s, at 64.0 GiB", the best that was reached."""
    nearest = answer.get("nearest")
    if nearest is None:
        return "not kept"  # by an earlier version
    size = format_bytes(nearest["capacity_bytes"])
    if nearest["value"] is None:
        missed = nearest["requests_not_served"]
        return f"{missed:,.0f} requests not served, at {size}; at least one at every capacity"
    return f"{metric.shown(nearest['value'])}, at {size}"


def server_words(trial: Mapping[str, Any]) -> str | None:
    """Return what the server of a trial had to do; None for one without a clock."""
    load = load_of_row(trial.get)
    if load["utilisation"] is None:
        return None
    text = f"the server is busy {busy(load)} of the time there ({offered(load)})"
    if trial.get("queue_grows"):
        return f"{text}, and its queue grows to the end of the trace"
    return text + (BACKLOG if load["utilisation"] > (load["offered_load"] or 0) + CARRIED else "")


def help_words(answer: Answer, report: Report) -> str | None:
    """Return whether memory can help at all; None where there is a capacity or no bound."""
    bound, metric = answer.get("bound"), metric_named(report["target"]["metric"])
    if bound is None:
        return None
    text, value = report["target"]["text"], _bound_value(bound, metric)
    if answer.get("memory_can_help") is None:
        return f"The bound, a cache that keeps everything, is no better: {value}"
    if answer["memory_can_help"]:
        return (
            f"A cache that keeps everything, with a state at every position for free, would give "
            f"{value} (a bound, which meets {text}): other policies may come nearer to it"
        )
    return (
        f"A cache that saves everything it can, however large, would still give {value} (a bound): "
        f"no memory meets {text}. {_instead(metric, bound)}"
    )


def _bound_value(bound: Mapping[str, Any], metric: Metric) -> str:
    return "unserved requests" if bound["value"] is None else metric.shown(bound["value"])


def _instead(metric: Metric, bound: Mapping[str, Any]) -> str:
    """Return what it takes instead of memory."""
    if metric.unit == "share":
        return "The prompts share no more than that"
    if metric.unit == "rate" and not (bound["offered_load"] or 0) > 1:
        return "It is the rate of arrivals, which no cache changes"
    return "It takes more replicas, a faster one, or less traffic"
