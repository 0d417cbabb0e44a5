"""The answer as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.capacity.beyond import help_words, server_words
from reports.capacity.sentences import (
    cautions,
    evidence_notes,
    headline,
    interval,
    knee_sentence,
    labelled,
    moved_by,
    nearest_answer,
    pools_sentence,
    server_cautions,
    shown_trial,
)
from reports.capacity.target import Metric, metric_named
from reports.console import print_line, print_table
from reports.results.metrics import load_of_row
from reports.results.overload import busy
from simulator.base.units import format_bytes, format_seconds

HEAD = (
    "policies",
    "least memory",
    "interval",
    "there",
    "token hit rate",
    "mean TTFT",
    "server busy",
)


def print_capacity(report: dict[str, Any]) -> None:
    """Print the answer, the other policies, the knee and how the answer moves."""
    answers, best = report["answers"], report["best"]
    print_line(headline(report))
    for text in main_texts(report):
        print_line(f"{text}.")
    if len(answers) > 1:
        print()
        print_table(HEAD, [row_of(answer, report) for answer in answers])
        for number, answer in enumerate(answers):
            if number != best:
                for text in texts_beside(answer, report):
                    print_line(f"{labelled(answer)}: {text}.")
    if report["sensitivity"]:
        print()
        title = f"How the answer of {labelled(answers[best])} moves"
        print_table(("", "least memory", "", "rests on"), moves(report), title=title)
        for text in texts_of_moves(report):
            print_line(f"{text}.")
    print()
    for note in evidence_notes(report):
        print_line(note)


def row_of(answer: dict[str, Any], report: dict[str, Any]) -> tuple[str, ...]:
    """Return the row of a candidate, in the order of HEAD."""
    name, capacity = labelled(answer), answer["capacity_bytes"]
    if answer["error"] is not None:
        return (name, f"failed: {answer['error']}", *("n/a",) * (len(HEAD) - 2))
    trial = shown_trial(answer)
    if trial is None:
        return (name, "none that was tried", *("n/a",) * (len(HEAD) - 2))
    if capacity is None:
        least = "none that was tried", f"nearest: {format_bytes(trial['capacity_bytes'])}"
    else:
        least = format_bytes(capacity), interval(answer["low_bytes"], answer["high_bytes"])
    value = trial["value"]
    ttft, rate = trial["ttft_mean_seconds"], trial["token_hit_rate"]
    return (
        name,
        *least,
        "not served" if value is None else _metric(report).shown(value),
        "n/a" if rate is None else f"{100 * rate:.1f} %",
        "n/a" if ttft is None else format_seconds(ttft),
        busy_of(trial),
    )


def busy_of(trial: Mapping[str, Any]) -> str:
    """Return how busy the server of a trial was; n/a for one without a clock."""
    return busy(load_of_row(trial.get))


def main_texts(report: dict[str, Any]) -> list[str]:
    """Return what goes with the headline: of the best answer, or of the nearest to one."""
    answers, best = report["answers"], report["best"]
    answer = nearest_answer(answers, report) if best is None else answers[best]
    if answer is None:
        return []
    first = [] if best is None else [pools_sentence(answer), *cautions(answer)]
    last = None if best is None else knee_sentence(answer)
    return [text for text in [*first, *server_cautions(answer, report), last] if text]


def texts_beside(answer: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """Return what goes with an answer in the table: a growing queue, whether memory can help."""
    headed = report["best"] is None and answer is nearest_answer(report["answers"], report)
    trial = shown_trial(answer)
    grown = trial is not None and trial.get("queue_grows") and not headed
    texts = [
        pools_sentence(answer),
        *cautions(answer),
        server_words(trial) if trial is not None and grown else None,
        help_words(answer, report) if report["best"] is not None else None,
    ]
    return [text[:1].upper() + text[1:] for text in texts if text]


def texts_of_moves(report: dict[str, Any]) -> list[str]:
    """Return why variations have no answer, and which are against the expectation."""
    texts = []
    for item in report["sensitivity"]:
        answer = item["answer"]
        if answer is not None and answer["error"] is None and answer["capacity_bytes"] is None:
            texts += [f"{item['name']}: {text}" for text in server_cautions(answer, report)]
        if item.get("caution"):
            texts.append(item["caution"])
    return texts


def _metric(report: dict[str, Any]) -> Metric:
    return metric_named(report["target"]["metric"])


def moves(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return a row for each variation: name, least memory, factor, what it rests on."""
    base = report["answers"][report["best"]]
    metric = report["target"]["metric"]
    return [
        (item["name"], *moved_by(item, base, metric), item["note"])
        for item in report["sensitivity"]
    ]
