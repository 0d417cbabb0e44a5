"""Answers as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.capacity.answers import Answer
from reports.capacity.beyond import help_words, nearest_words, server_words
from reports.capacity.target import metric_named
from reports.results.overload import RULE
from simulator.base.units import format_bytes

MOST_LISTED = 6


def sentence(answer: Answer, report: Mapping[str, Any]) -> str:
    """Return the answer for one candidate in one sentence."""
    target, name = report["target"]["text"], labelled(answer)
    if answer["error"] is not None:
        return f"No answer for {name}: a cell failed: {answer['error']}"
    if answer["capacity_bytes"] is None:
        metric = metric_named(report["target"]["metric"])
        best = nearest_words(answer, metric)
        return f"No capacity that was tried meets {target} with {name}: the best is {best}."
    return f"{suffices(answer)} for {target} with {name}."


def suffices(answer: Answer) -> str:
    """Return "64.0 GiB (between 61.2 GiB and 66.1 GiB) suffice"."""
    least = format_bytes(answer["capacity_bytes"])
    low, high = answer["low_bytes"], answer["high_bytes"]
    if low is not None:
        return f"{least} ({interval(low, high)}) suffice"
    smallest = min(trial["capacity_bytes"] for trial in answer["trials"])
    if smallest < answer["capacity_bytes"]:
        surely = "none that was tried surely" if high is None else f"{format_bytes(high)} surely"
        tried = format_bytes(smallest)
        return (
            f"{least} ({surely}; perhaps less, down to {tried}, the least that was tried) suffice"
        )
    surely = "" if high == answer["capacity_bytes"] else f" ({interval(low, high)})"
    return f"{least}, the least that was tried,{surely} suffice"


def _has_lower_end(answer: Answer | None) -> bool:
    return answer is not None and answer["low_bytes"] is not None


def interval(low: int | None, high: int | None) -> str:
    """Return "between 61.2 GiB and 66.1 GiB", or what is known of it."""
    if low is not None and high is not None and format_bytes(low) == format_bytes(high):
        return f"known to within {format_bytes(high - low)}"
    if low is not None and high is not None:
        return f"between {format_bytes(low)} and {format_bytes(high)}"
    if low is not None:
        return f"above {format_bytes(low)}; none that was tried suffices surely"
    if high is None:
        return "perhaps the least that was tried; none suffices surely"
    return f"up to {format_bytes(high)}; perhaps the least that was tried"


def labelled(answer: Answer) -> str:
    """Return the name of a candidate with its marks."""
    marks = f" ({', '.join(answer['marks'])})" if answer["marks"] else ""
    return f"{answer['name']}{marks}"


def cautions(answer: Answer) -> list[str]:
    """Return what was found against the expectation that more memory helps."""
    sentences = []
    above = answer["missed_above_bytes"]
    tried = [trial["capacity_bytes"] for trial in answer["trials"]]
    if tried and answer["capacity_bytes"] == min(tried):
        states = "one state" if answer.get("pools") is None else "what is kept for states"
        sentences.append(
            f"Nothing smaller was tried: less than one page of KV and {states} can save nothing"
        )
    if not answer["halved"] and answer["capacity_bytes"] is not None:
        sentences.append(
            "The grid crosses the target more than once there, so the step before "
            f"{format_bytes(answer['capacity_bytes'])} was not halved"
        )
    if above:
        sizes = ", ".join(format_bytes(size) for size in above[:MOST_LISTED])
        more = f" and {len(above) - MOST_LISTED} more" if len(above) > MOST_LISTED else ""
        sentences.append(f"More memory misses the target again at {sizes}{more}")
    if answer["uneven"]:
        sentences.append(
            "In the step that was halved more memory made it worse in places, so smaller "
            "capacities in there may meet the target too"
        )
    return sentences


def pools_sentence(answer: Answer) -> str | None:
    """Return how the answer is split between KV and states; None where they share it."""
    pools = answer.get("pools")
    if pools is None:
        return None
    kv, states = (
        f"{format_bytes(pools[name]['capacity_bytes'])} {words} (peak "
        f"{format_bytes(pools[name]['peak_bytes'])})"
        for name, words in (("kv", "are for KV"), ("states", "for states"))
    )
    return f"Of the {format_bytes(answer['capacity_bytes'])}, {kv} and {states}"


def server_cautions(answer: Answer, report: Mapping[str, Any]) -> list[str]:
    """Return what the server had to do at the answer or nearest to it, and what memory can do."""
    trial = shown_trial(answer)
    server = [] if trial is None else [server_words(trial)]
    return [
        f"{text[:1].upper()}{text[1:]}" for text in [*server, help_words(answer, report)] if text
    ]


def shown_trial(answer: Answer) -> Mapping[str, Any] | None:
    """Return the trial at the answer, or the nearest to the target; None where a cell failed."""
    trials: Sequence[Mapping[str, Any]] = answer["trials"]
    at = answer["capacity_bytes"]
    if at is None:
        nearest: Mapping[str, Any] | None = answer.get("nearest")
        return nearest
    return next(trial for trial in trials if trial["capacity_bytes"] == at)


def knee_sentence(answer: Answer) -> str | None:
    """Return where memory stops paying; None without prices."""
    knee = answer["knee"]
    if knee is None:
        return None
    size = format_bytes(knee["capacity_bytes"])
    ends = []
    if knee["smaller_above_dollars"] is not None:
        ends.append(f"less memory would pay above ${knee['smaller_above_dollars']:.2g}")
    if knee["larger_below_dollars"] is not None:
        ends.append(f"more memory would pay below ${knee['larger_below_dollars']:.2g}")
    moves = f"; {', '.join(ends)} per GiB-hour" if ends else ""
    return (
        f"At ${knee['dollars_per_gib_hour']:.2g} per GiB-hour the cheapest capacity tried is "
        f"{size}: ${knee['dollars_per_million_tokens']:.3g} per million prompt tokens{moves}"
    )


def moved_by(item: Mapping[str, Any], base: Answer, metric_name: str) -> tuple[str, str]:
    """Return how the answer moves with a variation: the capacity with its interval, the factor."""
    answer = item["answer"]
    if answer is None:
        return "not tried", "n/a"
    if answer["error"] is not None:
        return "failed", "n/a"
    if answer["capacity_bytes"] is None:
        metric = metric_named(metric_name)
        return f"none that was tried suffices: at best {nearest_words(answer, metric)}", "n/a"
    capacity = answer["capacity_bytes"]
    shown = f"{format_bytes(capacity)} ({interval(answer['low_bytes'], answer['high_bytes'])})"
    return shown, f"x {capacity / base['capacity_bytes']:.2f}"


def evidence_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what the intervals rest on, and how the metric is counted."""
    methods = {answer["method"] for answer in report["answers"]}
    notes = []
    if "replications" in methods:
        notes.append(
            f"Intervals: a capacity counts as surely missing or meeting the target where the whole "
            f"95 % interval of the metric (Student's t over {report['replications']} replications) "
            "does. Between the two lies the interval of the answer."
        )
    if "draws" in methods:
        notes.append(
            f"Intervals: 95 %, over {report['replications']} draws of the cost coefficients from "
            "the uncertainty of their fit."
        )
    if "blocks" in methods:
        notes.append(
            "Intervals: 95 %, from the blocks of time of one replay. They tell how much the "
            "answer hangs on these hours of traffic, not what another trace would show."
        )
    if "none" in methods and any(_has_lower_end(answer) for answer in report["answers"]):
        notes.append(
            "Where a replay is too short to tell, the interval is only the last step of the "
            "search: its lower end was tried and misses the target."
        )
    return [*notes, _definition(report), *_overload(report)]


def _overload(report: Mapping[str, Any]) -> list[str]:
    """Return by which rule a queue is said to grow, where one does."""
    answers = [*report["answers"], *(item["answer"] for item in report["sensitivity"])]
    shown = [shown_trial(answer) for answer in answers if answer is not None]
    return [RULE] if any(trial and trial.get("queue_grows") for trial in shown) else []


def _definition(report: Mapping[str, Any]) -> str:
    metric = metric_named(report["target"]["metric"])
    if metric.unit == "seconds":
        return "A request that was rejected or not finished counts as one that waits for ever."
    if metric.unit == "rate":
        return (
            "Throughput is served requests over the time from the first arrival to the last first "
            "token. Until the server is overloaded it is the rate of arrivals, whatever the memory."
        )
    if metric.unit == "dollars":
        return (
            "Cost: memory is paid for all the time, the GPU while it is busy; per million prompt "
            "tokens of served requests."
        )
    return "Token hit rate: saved tokens over prompt tokens of all counted requests."


def headline(report: Mapping[str, Any]) -> str:
    """Return the sentence of the best answer, or that there is none."""
    answers: Sequence[Answer] = report["answers"]
    if report["best"] is not None:
        return sentence(answers[report["best"]], report)
    nearest = nearest_answer(answers, report)
    if len(answers) == 1 or nearest is None:
        return sentence(answers[0], report)
    best = nearest_words(nearest, metric_named(report["target"]["metric"]))
    return (
        f"No capacity that was tried meets {report['target']['text']} with any of the policies: "
        f"the best is {best}, with {labelled(nearest)}."
    )


def nearest_answer(answers: Sequence[Answer], report: Mapping[str, Any]) -> Answer | None:
    """Return the answer that came nearest where none suffices; a fair competitor if there is one.

    None where every cell failed.
    """
    sign = 1 if metric_named(report["target"]["metric"]).less_is_better else -1
    tried = [answer for answer in answers if answer.get("nearest") is not None]
    fair = [answer for answer in tried if not answer["marks"]] or tried

    def merit(answer: Answer) -> tuple[bool, float]:
        value = answer["nearest"]["value"]
        return value is None, 0.0 if value is None else sign * value

    return min(fair, key=merit, default=None)
