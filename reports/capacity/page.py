"""The page of `milepost capacity`, and the files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.capacity.charts import capacity_charts, drawn, looks_of, own_colour
from reports.capacity.finding import SCHEMA_VERSION
from reports.capacity.sentences import (
    evidence_notes,
    headline,
    interval,
    labelled,
    nearest_answer,
)
from reports.capacity.summary import (
    HEAD,
    busy_of,
    main_texts,
    moves,
    row_of,
    texts_beside,
    texts_of_moves,
)
from reports.capacity.target import metric_named
from reports.caveats import PROFILE_KINDS as KINDS
from reports.caveats import lossy as lossy_caveats
from reports.documents import read_document
from reports.files import write_json
from reports.page.answer import Number
from reports.page.document import bare, render
from reports.page.panel import Panel
from reports.palette import GREY, Look
from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND
from simulator.base.files import write_text
from simulator.base.units import format_bytes, format_count, format_seconds

JSON, PAGE = "capacity.json", "capacity.html"
MOST_ROWS = 500


def write_capacity(folder: Path, report: dict[str, Any]) -> None:
    """Write `capacity.json` and `capacity.html`.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    write_json(folder / JSON, report)
    write_text(folder / PAGE, render_capacity_page(report))


def read_capacity(folder: Path) -> dict[str, Any]:
    """Return what `write_capacity` left in a folder.

    Raises
    ------
    DataError
        When it is damaged or was written by a newer version.
    """
    from reports.capacity.stored import StoredCapacity

    return read_document(folder / JSON, StoredCapacity, "an answer", SCHEMA_VERSION)[1]


def render_capacity_page(report: Mapping[str, Any]) -> str:
    """Return the page as HTML; the same input gives the same bytes."""
    report = dict(report)
    charts = capacity_charts(report)
    best = None if report["best"] is None else report["answers"][report["best"]]
    rows = [row_of(answer, report) for answer in report["answers"]]
    return render(
        "capacity.html",
        {name: bare(chart) for name, chart in charts.items()},
        brand="Milepost capacity",
        title=report["title"],
        version=report["milepost_version"],
        answer=headline(report),
        cautions=main_texts(report),
        numbers=_numbers(best, report) if best is not None else _nearest_numbers(report),
        panels=[panel for panel in _panels(report) if panel.id in charts],
        head=[f"{name[:1].upper()}{name[1:]}" for name in HEAD],
        rows=rows[:MOST_ROWS],
        more_rows=max(0, len(rows) - MOST_ROWS),
        moves=[] if best is None else moves(report),
        moved="" if best is None else labelled(best),
        notes=_notes(report),
        command=report["command"],
        json_text=json.dumps(report, indent=2, ensure_ascii=False),
    )


def _numbers(best: dict[str, Any], report: dict[str, Any]) -> list[Number]:
    """Return the four numbers of the best answer."""
    metric = metric_named(report["target"]["metric"])
    trial = next(t for t in best["trials"] if t["capacity_bytes"] == best["capacity_bytes"])
    numbers = [
        Number(
            "Least memory",
            format_bytes(best["capacity_bytes"]),
            interval(best["low_bytes"], best["high_bytes"]),
        ),
        Number(
            metric.title[:1].upper() + metric.title[1:],
            metric.shown(best["value"]),
            f"target: {report['target']['text']}",
        ),
        _hit_rate(trial, report),
        _ttft(trial),
        _used(trial),
    ]
    position = {"token_hit_rate": 2, "mean_ttft": 3}.get(metric.name, 4)
    return numbers[:position] + numbers[position + 1 :]


def _nearest_numbers(report: dict[str, Any]) -> list[Number]:
    """Return the numbers of what came nearest to the target, where nothing meets it."""
    answer = nearest_answer(report["answers"], report)
    if answer is None:
        return []
    metric, trial = metric_named(report["target"]["metric"]), answer["nearest"]
    value, bound = trial["value"], answer.get("bound")
    most = "n/a" if bound is None else "not served"
    if bound is not None and bound["value"] is not None:
        most = metric.shown(bound["value"])
    return [
        Number("Least memory", "none", f"that was tried meets {report['target']['text']}"),
        Number(
            f"Best {metric.title}",
            "not served" if value is None else metric.shown(value),
            f"at {format_bytes(trial['capacity_bytes'])}",
        ),
        Number("If everything were saved", most, "a bound: no cache does better"),
        _hit_rate(trial, report),
    ]


def _hit_rate(trial: dict[str, Any], report: dict[str, Any]) -> Number:
    rate, server = trial["token_hit_rate"], busy_of(trial)
    clock = report["study"].get("server", {}).get("kind") != "instant"
    note = f"server busy {server}" if clock else "of the prompt tokens that count"
    return Number("Token hit rate", "n/a" if rate is None else f"{100 * rate:.1f} %", note)


def _ttft(trial: dict[str, Any]) -> Number:
    ttft, p99 = trial["ttft_mean_seconds"], trial["ttft_p99_seconds"]
    return Number(
        "Mean time to first token",
        "n/a" if ttft is None else format_seconds(ttft),
        "P99 n/a (n < 368)" if p99 is None else f"P99 {format_seconds(p99)}",
    )


def _used(trial: dict[str, Any]) -> Number:
    peak = trial["cache_peak_bytes"]
    least = format_bytes(trial["capacity_bytes"])
    return Number("Used at the peak", "n/a" if peak is None else format_bytes(peak), f"of {least}")


def _panels(report: Mapping[str, Any]) -> list[Panel]:
    answers = drawn(report)
    styles = looks_of(report["answers"])
    keys = {labelled(answer): _swatch(labelled(answer), styles) for answer in answers}
    priced = [keys[labelled(answer)] for answer in answers if answer["knee"] is not None]
    left_out = len(report["answers"]) - len(answers)
    more = f" {left_out} more are in the table." if left_out else ""
    return [
        Panel(
            "metric",
            "What capacity buys",
            "Every capacity that was tried. The grey bar is the interval of the answer. More "
            f"memory can make it worse: most policies promise nothing else.{more}",
            tuple(keys.values()),
        ),
        Panel(
            "cost",
            "Where memory stops paying",
            "Memory is paid for all the time, the GPU while it is busy. Rings: the cheapest "
            f"capacity tried.{more}",
            tuple(priced),
        ),
        Panel(
            "variations",
            "How the answer moves",
            f"The least capacity when one thing is different, with its interval.{_undrawn(report)}",
            () if report["best"] is None else _of_variations(report),
        ),
    ]


def _of_variations(report: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (("as asked", own_colour(report)), ("one thing different", GREY))


def _swatch(name: str, styles: Mapping[str, Look]) -> tuple[str, str, str]:
    """Return name, colour and dash of an entry of a legend."""
    return name, styles[name].colour, " ".join(map(str, styles[name].dash))


def _undrawn(report: Mapping[str, Any]) -> str:
    """Return which variations have no bar, as no capacity that was tried suffices."""
    names = [
        item["name"]
        for item in report["sensitivity"]
        if item["answer"] is not None
        and item["answer"]["error"] is None
        and item["answer"]["capacity_bytes"] is None
    ]
    return f" No capacity that was tried suffices for: {', '.join(names)}." if names else ""


def _notes(report: dict[str, Any]) -> list[str]:
    """Return what a reader should weigh."""
    share, profile = report["warmup_share"], report["profile"]
    answers = report["answers"]
    notes = evidence_notes(report)
    notes.append(
        f"Warm-up: the first {100 * share:g} % of the requests are served but not counted."
        if share
        else "No warm-up was cut: the misses of the empty cache are counted."
    )
    notes += [
        f"{labelled(answer)}: {text}."
        for number, answer in enumerate(answers)
        if number != report["best"]
        for text in texts_beside(answer, report)
    ]
    notes += [f"{text}." for text in texts_of_moves(report)]
    notes += [f"{answer['name']}: {answer['error']}" for answer in answers if answer["error"]]
    marks = {mark for answer in answers for mark in answer["marks"]}
    if marks & {UPPER_BOUND, LOOKS_AHEAD}:
        notes.append("What no real system can do is marked, and never the answer where others are.")
    notes += [f"{str(note).rstrip('.')}." for note in report["trace"]["notes"]]
    notes.append(f"Times rest on the profile {profile['id']}, which {KINDS[profile['kind']]}.")
    lossy = profile.get("lossy") or {}
    notes += lossy_caveats(lossy)
    if any(item["note"].endswith("lossy") and item["answer"] for item in report["sensitivity"]):
        notes.append("What fp8 and int8 do to answers is not simulated, only what they weigh.")
    return notes + _extrapolated(answers)


def _extrapolated(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how many request times lie beyond the profile, at most in one of the trials."""
    trials = [trial for answer in answers for trial in answer["trials"]]
    most = max((trial["extrapolated_requests"] for trial in trials), default=0)
    if not most:
        return []
    return [
        f"Up to {format_count(most)} request times of a capacity, over its replications, are "
        "extrapolated beyond the profile's range."
    ]
