"""The answer as people read it in a terminal."""

from __future__ import annotations

from typing import Any

from reports.capacity.sentences import (
    cautions,
    evidence_notes,
    headline,
    interval,
    knee_sentence,
    labelled,
    moved_by,
)
from reports.capacity.target import metric_named
from reports.console import print_line, print_table
from simulator.units import format_bytes, format_seconds

HEAD = ("policies", "least memory", "interval", "there", "token hit rate", "mean TTFT")


def print_capacity(found: dict[str, Any]) -> None:
    """Print the answer, the other policies, the knee and how the answer moves."""
    answers, best = found["answers"], found["best"]
    print_line(headline(found))
    if best is not None:
        for text in [*cautions(answers[best]), knee_sentence(answers[best])]:
            if text:
                print_line(f"{text}.")
    if len(answers) > 1:
        print()
        print_table(HEAD, [row_of(answer, found) for answer in answers])
        for number, answer in enumerate(answers):
            if number != best:
                for text in cautions(answer):
                    print_line(f"{labelled(answer)}: {text}.")
    if found["sensitivity"]:
        print()
        title = f"How the answer of {labelled(answers[best])} moves"
        print_table(("", "least memory", "", "rests on"), moves(found), title=title)
    print()
    for note in evidence_notes(found):
        print_line(note)


def row_of(answer: dict[str, Any], found: dict[str, Any]) -> tuple[str, ...]:
    """Return the row of a candidate, in the order of HEAD."""
    name, capacity = labelled(answer), answer["capacity_bytes"]
    if answer["error"] is not None:
        return (name, f"failed: {answer['error']}", "", "", "", "")
    if capacity is None:
        return (name, "none that was tried", "", "", "", "")
    trial = next(t for t in answer["trials"] if t["capacity_bytes"] == capacity)
    ttft, rate = trial["ttft_mean_seconds"], trial["token_hit_rate"]
    return (
        name,
        format_bytes(capacity),
        interval(answer["low_bytes"], answer["high_bytes"]),
        metric_named(found["target"]["metric"]).shown(answer["value"]),
        "n/a" if rate is None else f"{100 * rate:.1f} %",
        "n/a" if ttft is None else format_seconds(ttft),
    )


def moves(found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return a row for each variation: name, least memory, factor, what it rests on."""
    base = found["answers"][found["best"]]
    return [(item["name"], *moved_by(item, base), item["note"]) for item in found["sensitivity"]]
