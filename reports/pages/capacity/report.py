"""The content of the report of `milepost capacity` on page, terminal and in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reports.capacity.answers import JSON, Answer, CapacityResult, Tried, read_result
from reports.capacity.charts import cost_curve, drawn, looks_of, metric_curve, variation_bars
from reports.caveats import (
    PROFILE_KINDS,
    intervals,
    looking_ahead,
    profile_caveats,
    trace_caveats,
    warmup,
)
from reports.pages.capacity.sentences import (
    headline,
    interval,
    main_texts,
    moved_by,
    texts_beside,
    texts_of_moves,
)
from reports.palette import GREY
from reports.report import Number, Panel, Panels, Report, Section, Table
from reports.results.overload import RULE, busy
from reports.words import capital, known, percent
from simulator.base.units import format_bytes, format_count, format_seconds

HEAD = (
    "Policies",
    "Least memory",
    "Interval",
    "There",
    "Token hit rate",
    "Mean TTFT",
    "Server busy",
)
DEFINITIONS = {
    "seconds": "A request that was rejected or not finished counts as one that waits for ever.",
    "rate": "Throughput is served requests over the time from the first arrival to the last first "
    "token. Until the server is overloaded it is the rate of arrivals, whatever the memory.",
    "dollars": "Cost: memory is paid for all the time, the GPU while it is busy; per million "
    "prompt tokens of served requests.",
    "share": "Token hit rate: saved tokens over prompt tokens of all counted requests.",
}


def kept_report(folder: Path) -> Report:
    """Return the report of the capacity search stored in a folder.

    Raises
    ------
    DataError
        When the result is damaged or was written by a newer version.
    """
    return capacity_report(*read_result(folder))


def capacity_report(result: CapacityResult, plain: Mapping[str, Any] | None = None) -> Report:
    """Return the report of a capacity search.

    `plain` is the stored JSON of the result, with any fields that this version does not know.
    """
    best = result.best_answer
    tables = [
        Table(
            title="Every combination",
            id="policies",
            head=HEAD,
            rows=[row_of(answer, result) for answer in result.answers],
            rest=JSON,
            on_terminal=len(result.answers) > 1,
        )
    ]
    if best is not None and result.sensitivity:
        tables.append(
            Table(
                title=f"When one thing is different, for {best.label}",
                id="moves",
                head=("What is different", "Least memory", "Of the answer", "Rests on"),
                rows=[
                    (item.name, *moved_by(item, best, result.goal), item.note)
                    for item in result.sensitivity
                ],
                words=(1, 3),
            )
        )
    panels = tuple(_panels(result))
    return Report(
        kind="capacity",
        title=result.title,
        sections=(
            Section(
                answer=headline(result),
                also=tuple(f"{text}." for text in main_texts(result)),
                numbers=tuple(_numbers(result)),
                blocks=(*[Panels(title="Against capacity", panels=panels)] * bool(panels), *tables),
            ),
        ),
        caveats=tuple(_caveats(result)),
        command=result.command,
        data=msgspec.to_builtins(result) if plain is None else plain,
        data_title="Everything that was computed",
        page_file="capacity.html",
        data_file=JSON,
        milepost_version=result.milepost_version,
    )


def row_of(answer: Answer, result: CapacityResult) -> tuple[str, ...]:
    """Return the table row of one candidate policy, with its columns in the order of `HEAD`."""
    shown, none = answer.shown, ("n/a",) * (len(HEAD) - 2)
    if shown is None:
        failed = "none that was tried" if answer.error is None else f"failed: {answer.error}"
        return answer.label, failed, *none
    size, ends = format_bytes(shown.capacity_bytes), interval(answer.low_bytes, answer.high_bytes)
    met = answer.capacity_bytes is not None
    return (
        answer.label,
        *((size, ends) if met else ("none that was tried", f"nearest: {size}")),
        _value(shown, result),
        known(shown.token_hit_rate, percent),
        known(shown.ttft_mean_seconds, format_seconds),
        busy(shown.load),
    )


def _value(trial: Tried, result: CapacityResult) -> str:
    return "not served" if trial.value is None else result.goal.metric.shown(trial.value)


def _numbers(result: CapacityResult) -> list[Number]:
    """Return four key numbers of the best answer or, without one, of the nearest trial."""
    answer, metric, text = result.main, result.goal.metric, result.goal.text
    trial = None if answer is None else answer.shown
    if answer is None or trial is None:
        return []
    instant = result.study.get("server", {}).get("kind") == "instant"
    size, title = format_bytes(trial.capacity_bytes), metric.title
    rests = "of the prompt tokens that count" if instant else f"server busy {busy(trial.load)}"
    rate = Number("Token hit rate", known(trial.token_hit_rate, percent), rests)
    if result.best is None:
        most = "n/a" if answer.bound is None else "not served"
        if answer.bound is not None and answer.bound.value is not None:
            most = metric.shown(answer.bound.value)
        return [
            Number("Least memory", "none", f"that was tried meets {text}"),
            Number(f"Best {title}", _value(trial, result), f"at {size}"),
            Number("If everything were saved", most, "a bound: no cache does better"),
            rate,
        ]
    p99, peak = trial.ttft_p99_seconds, trial.cache_peak_bytes
    late = "P99 n/a (n < 368)" if p99 is None else f"P99 {format_seconds(p99)}"
    numbers = {
        "least": Number("Least memory", size, interval(answer.low_bytes, answer.high_bytes)),
        "target": Number(capital(title), _value(trial, result), f"target: {text}"),
        "token_hit_rate": rate,
        "mean_ttft": Number(
            "Mean time to first token", known(trial.ttft_mean_seconds, format_seconds), late
        ),
        "used": Number("Used at the peak", known(peak, format_bytes), f"of {size}"),
    }
    numbers.pop(metric.name if metric.name in numbers else "used")
    return list(numbers.values())


def _panels(result: CapacityResult) -> Iterator[Panel]:
    """Yield the charts that have data."""
    answers, best = drawn(result), result.best_answer
    looks = {answer.label: looks_of(result.answers)[answer.label] for answer in answers}
    keys = {
        name: (name, look.colour, " ".join(map(str, look.dash))) for name, look in looks.items()
    }
    left_out = len(result.answers) - len(answers)
    more = f" {left_out} more are in the table." if left_out else ""
    met = best is not None and best.capacity_bytes is not None
    bar = "The grey bar is the interval of the answer. " * met
    knees = tuple(keys[answer.label] for answer in answers if answer.knee is not None)
    own = () if best is None else (("as asked", looks[best.label].colour),)
    title = result.goal.metric.title
    panels = {
        "metric": (
            "What capacity buys",
            f"Every capacity that was tried. {bar}More memory can make it worse: most policies "
            f"promise nothing else.{more}",
            metric_curve(result),
            tuple(keys.values()),
            capital(title),
        ),
        "cost": (
            "Where memory stops paying",
            "Memory is paid for all the time, the GPU while it is busy. Rings: the cheapest "
            f"capacity tried.{more}",
            cost_curve(result),
            knees,
            "Cost",
        ),
        "variations": (
            "How the answer moves",
            f"The least capacity when one thing is different, with its interval.{_undrawn(result)}",
            variation_bars(result),
            (*own, ("one thing different", GREY)),
            f"Least capacity for {result.goal.text}",
        ),
    }
    for id, (heading, caption, chart, swatches, alone) in panels.items():
        if chart is not None:
            yield Panel(id, heading, caption, chart, swatches, image_title=alone)


def _undrawn(result: CapacityResult) -> str:
    """Return which variations have no bar, because no capacity tried meets the target."""
    answers = {item.name: item.answer for item in result.sensitivity if item.answer is not None}
    names = [
        name for name, each in answers.items() if each.error is None and each.capacity_bytes is None
    ]
    return f" No capacity that was tried suffices for: {', '.join(names)}." if names else ""


def _caveats(result: CapacityResult) -> Iterator[str]:
    """Yield the caveats of the search."""
    answers, profile = result.answers, result.profile
    varied = [item.answer for item in result.sensitivity if item.answer is not None]
    methods = {answer.method for answer in answers if answer.method is not None}
    yield from intervals(methods, result.replications, searched=True)
    if "none" in methods and any(answer.low_bytes is not None for answer in answers):
        yield (
            "Where a replay is too short to tell, the interval is only the last step of the "
            "search: its lower end was tried and misses the target."
        )
    yield DEFINITIONS[result.goal.metric.unit]
    if any(answer.shown is not None and answer.shown.queue_grows for answer in [*answers, *varied]):
        yield RULE
    yield from warmup(result.warmup_share)
    for answer in answers:
        if answer is not result.best_answer:
            yield from (f"{answer.label}: {text}." for text in texts_beside(answer, result))
    yield from (f"{text}." for text in texts_of_moves(result))
    yield from (f"{answer.name}: {answer.error}" for answer in answers if answer.error)
    yield from looking_ahead({answer.name: answer.marks for answer in answers})
    yield from trace_caveats(msgspec.to_builtins(result.trace))
    if profile.kind == "measured":
        yield f"Times rest on the profile {profile.id}, which {PROFILE_KINDS[profile.kind]}."
    yield from profile_caveats(msgspec.to_builtins(profile))
    if any(item.note.endswith("lossy") and item.answer for item in result.sensitivity):
        yield "What fp8 and int8 do to answers is not simulated, only what they weigh."
    trials = [trial for answer in answers for trial in answer.trials]
    if most := max((trial.extrapolated_requests for trial in trials), default=0):
        yield (
            f"Up to {format_count(most)} request times of a capacity, over its replications, are "
            "extrapolated beyond the profile's range."
        )
