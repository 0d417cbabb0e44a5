"""Sentences about the answers of a capacity search.

Texts that are joined to another sentence have no full stop.
"""

from __future__ import annotations

from reports.capacity.answers import Answer, Bound, CapacityResult, Tried, Varied
from reports.capacity.target import Metric, Target
from reports.results.overload import busy, offered
from reports.words import first_of
from simulator.base.units import format_bytes

CARRIED = 0.02  # a server this much busier than its load is working off an earlier queue
BACKLOG = (
    "; it also works off what waited before the first counted request, so a longer warm-up may "
    "give another answer"
)


def headline(result: CapacityResult) -> str:
    """Return the sentence that gives the best answer, or says that there is none."""
    goal, answer = result.goal, result.main or result.answers[0]
    if answer.error is not None:
        return f"No answer for {answer.label}: a cell failed: {answer.error}"
    if answer.capacity_bytes is not None:
        return f"{suffices(answer)} for {goal.text} with {answer.label}."
    missed, best = f"No capacity that was tried meets {goal.text}", nearest_words(answer, goal)
    if len(result.answers) == 1 or result.main is None:
        return f"{missed} with {answer.label}: the best is {best}."
    return f"{missed} with any of the policies: the best is {best}, with {answer.label}."


def main_texts(result: CapacityResult) -> list[str]:
    """Return the sentences below the headline, on the best answer or on the nearest trial."""
    answer = result.main
    if answer is None:
        return []
    texts = _server_texts(answer, result.goal)
    if result.best is not None:
        texts = [*_pools_texts(answer), *cautions(answer), *texts, *_knee_texts(answer)]
    return texts


def texts_beside(answer: Answer, result: CapacityResult) -> list[str]:
    """Return the remarks on an answer in the table: pools, cautions, load, whether memory helps."""
    texts, shown = [*_pools_texts(answer), *cautions(answer)], answer.shown
    if shown is not None and shown.queue_grows and answer is not result.main:
        texts += _load_texts(shown)
    return texts + (_help_texts(answer, result.goal) if result.best is not None else [])


def texts_of_moves(result: CapacityResult) -> list[str]:
    """Return why variations have no answer, and which answers move against expectation."""
    texts = []
    for item in result.sensitivity:
        if item.answer is not None and item.answer.capacity_bytes is None:
            texts += [f"{item.name}: {text}" for text in _server_texts(item.answer, result.goal)]
        texts += [item.caution] if item.caution else []
    return texts


def suffices(answer: Answer) -> str:
    """Return "64.0 GiB (between 61.2 GiB and 66.1 GiB) suffice"."""
    capacity, low, high = answer.capacity_bytes, answer.low_bytes, answer.high_bytes
    if capacity is None:
        raise ValueError(f"{answer.name}: no capacity suffices")
    least = format_bytes(capacity)
    if low is not None:
        return f"{least} ({interval(low, high)}) suffice"
    smallest = min(trial.capacity_bytes for trial in answer.trials)
    if smallest < capacity:
        surely = "none that was tried surely" if high is None else f"{format_bytes(high)} surely"
        tried = format_bytes(smallest)
        return (
            f"{least} ({surely}; perhaps less, down to {tried}, the least that was tried) suffice"
        )
    surely = "" if high == capacity else f" ({interval(low, high)})"
    return f"{least}, the least that was tried,{surely} suffice"


def interval(low: int | None, high: int | None) -> str:
    """Return "between 61.2 GiB and 66.1 GiB", or a one-sided bound where one end is unknown."""
    if low is not None and high is not None:
        ends = format_bytes(low), format_bytes(high)
        same = f"known to within {format_bytes(high - low)}"
        return same if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
    if low is not None:
        return f"above {format_bytes(low)}; none that was tried suffices surely"
    if high is None:
        return "perhaps the least that was tried; none suffices surely"
    return f"up to {format_bytes(high)}; perhaps the least that was tried"


def cautions(answer: Answer) -> list[str]:
    """Return what limits the answer: the range tried, or trials in which more memory was worse."""
    sentences, above, capacity = [], answer.missed_above_bytes, answer.capacity_bytes
    if capacity is not None and capacity == min(trial.capacity_bytes for trial in answer.trials):
        states = "one state" if answer.pools is None else "what is kept for states"
        sentences.append(
            f"Nothing smaller was tried: less than one page of KV and {states} can save nothing"
        )
    if capacity is not None and not answer.halved:
        sentences.append(
            "The grid crosses the target more than once there, so the step before "
            f"{format_bytes(capacity)} was not halved"
        )
    if above:
        sizes = first_of([format_bytes(size) for size in above])
        sentences.append(f"More memory misses the target again at {sizes}")
    if answer.uneven:
        sentences.append(
            "In the step that was halved more memory made it worse in places, so smaller "
            "capacities in there may meet the target too"
        )
    return sentences


def nearest_words(answer: Answer, goal: Target) -> str:
    """Return the trial nearest to the target in words, such as "4.1 s, at 64.0 GiB"."""
    nearest = answer.nearest
    if nearest is None:
        return "not kept"  # by an earlier version, which wrote the file
    size = format_bytes(nearest.capacity_bytes)
    if nearest.value is None:
        missed = nearest.requests_not_served
        return f"{missed:,.0f} requests not served, at {size}; at least one at every capacity"
    return f"{goal.metric.shown(nearest.value)}, at {size}"


def moved_by(item: Varied, base: Answer, goal: Target) -> tuple[str, str]:
    """Return the capacity for a variation with its interval, and its ratio to the base answer."""
    answer = item.answer
    if answer is None:
        return "not tried", "n/a"
    if answer.error is not None:
        return "failed", "n/a"
    if answer.capacity_bytes is None or base.capacity_bytes is None:
        return f"none that was tried suffices: at best {nearest_words(answer, goal)}", "n/a"
    ends = interval(answer.low_bytes, answer.high_bytes)
    factor = answer.capacity_bytes / base.capacity_bytes
    return f"{format_bytes(answer.capacity_bytes)} ({ends})", f"x {factor:.2f}"


def _pools_texts(answer: Answer) -> list[str]:
    """Return how the capacity is split between KV and states; nothing where they share it."""
    if answer.pools is None or answer.capacity_bytes is None:
        return []
    kv, states = (
        f"{format_bytes(pool.capacity_bytes)} {words} (peak {format_bytes(pool.peak_bytes)})"
        for pool, words in ((answer.pools.kv, "are for KV"), (answer.pools.states, "for states"))
    )
    return [f"Of the {format_bytes(answer.capacity_bytes)}, {kv} and {states}"]


def _knee_texts(answer: Answer) -> list[str]:
    """Return the cheapest capacity tried and its cost per token; nothing without prices."""
    knee, ends = answer.knee, []
    if knee is None:
        return []
    if knee.smaller_above_dollars is not None:
        ends.append(f"less memory would pay above ${knee.smaller_above_dollars:.2g}")
    if knee.larger_below_dollars is not None:
        ends.append(f"more memory would pay below ${knee.larger_below_dollars:.2g}")
    moves = f"; {', '.join(ends)} per GiB-hour" if ends else ""
    return [
        f"At ${knee.dollars_per_gib_hour:.2g} per GiB-hour the cheapest capacity tried is "
        f"{format_bytes(knee.capacity_bytes)}: ${knee.dollars_per_million_tokens:.3g} per million "
        f"prompt tokens{moves}"
    ]


def _server_texts(answer: Answer, goal: Target) -> list[str]:
    """Return the load of the server at the answer or nearest trial, and whether memory helps."""
    shown = answer.shown
    return [*([] if shown is None else _load_texts(shown)), *_help_texts(answer, goal)]


def _load_texts(trial: Tried) -> list[str]:
    """Return the load of the server in a trial; nothing for a server without a clock."""
    load = trial.load
    if load["utilisation"] is None:
        return []
    text = f"The server is busy {busy(load)} of the time there ({offered(load)})"
    if trial.queue_grows:
        return [f"{text}, and its queue grows to the end of the trace"]
    carried = load["utilisation"] > (load["offered_load"] or 0) + CARRIED
    return [text + (BACKLOG if carried else "")]


def _help_texts(answer: Answer, goal: Target) -> list[str]:
    """Return whether any capacity can meet the target.

    Nothing where a capacity does, or where no bound is known.
    """
    bound, metric = answer.bound, goal.metric
    if bound is None:
        return []
    value = "unserved requests" if bound.value is None else metric.shown(bound.value)
    if answer.memory_can_help is None:
        return [f"The bound, a cache that keeps everything, is no better: {value}"]
    if answer.memory_can_help:
        return [
            f"A cache that keeps everything, with a state at every position for free, would give "
            f"{value} (a bound, which meets {goal.text}): other policies may come nearer to it"
        ]
    return [
        f"A cache that saves everything it can, however large, would still give {value} (a bound): "
        f"no memory meets {goal.text}. {_instead(metric, bound)}"
    ]


def _instead(metric: Metric, bound: Bound) -> str:
    """Return what would help to meet the target instead of memory."""
    if metric.unit == "share":
        return "The prompts share no more than that"
    if metric.unit == "rate" and not (bound.offered_load or 0) > 1:
        return "It is the rate of arrivals, which no cache changes"
    return "It takes more replicas, a faster one, or less traffic"
