"""Sentences on the load of a server, and on times measured while its queue grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.words import known, percent
from simulator.base.units import format_seconds

FIGURES = (
    "offered_load_nothing_saved",
    "offered_load",
    "offered_load_last_half",
    "utilisation",
    "wait_last_quarter_seconds",
)
RULE = (
    "The queue is said to grow where, between the first and the last counted arrival or in the "
    "last half of that time, more than one second of work arrives a second, and requests of the "
    "later half of it wait longer on average, by more than a mean service time."
)

Load = Mapping[str, Any]


def busy(load: Load) -> str:
    """Return "88.1 %", the share of the time that the server was busy; "n/a" where unknown."""
    return known(load.get("utilisation"), percent)


def offered(load: Load) -> str:
    """Return "offered load 0.93, 1.80 if nothing were saved"; n/a where no time passes."""
    own, whole = load.get("offered_load"), load.get("offered_load_nothing_saved")
    if own is None or whole is None:
        return "offered load n/a (no time between arrivals)"
    return f"offered load {own:.2f}, {whole:.2f} if nothing were saved"


def load_words(load: Load) -> str:
    """Return a sentence on the server's load in a run."""
    if load.get("utilisation") is None:
        return offered(load)
    return f"busy {busy(load)} of the time up to the last arrival; {offered(load)}"


def overload_words(load: Load) -> str | None:
    """Return the warning of one server; None where its queue does not grow."""
    if not load.get("queue_grows"):
        return None
    last, wait = load.get("offered_load_last_half"), load.get("wait_last_quarter_seconds")
    late = "" if last is None else f" ({last:.2f} in the last half of the trace)"
    waits = "" if wait is None else f"; the last quarter waits {format_seconds(wait)} on average"
    return (
        f"the server is overloaded and its queue grows to the end of the trace: {offered(load)}"
        f"{late}{waits}. Waits and times to first token tell how long the trace is, not what users "
        "of a steady server would see"
    )


def range_words(loads: Sequence[Load]) -> str | None:
    """Return the range of server loads over several cells; None where none has a clock."""
    known = [load for load in loads if load.get("utilisation") is not None]
    if not known:
        return None
    shares = [load["utilisation"] for load in known]
    offered_loads = "; ".join(
        f"{words} {_range([load[name] for load in known])}"
        for words, name in (
            ("offered load", "offered_load"),
            ("if nothing were saved", "offered_load_nothing_saved"),
        )
    )
    ends = f"{percent(min(shares))} to {percent(max(shares))}"
    return f"servers busy {ends} of the time up to the last arrival; {offered_loads}"


def grown_words(loads: Sequence[Load], what: str = "cells") -> str | None:
    """Return the warning of several cells; None where no queue grows."""
    grown = sum(bool(load.get("queue_grows")) for load in loads)
    if not grown:
        return None
    return (
        f"in {grown} of {len(loads)} {what} the server is overloaded and its queue grows to the "
        "end of the trace: their times to first token tell how long the trace is, not what users "
        "of a steady server would see"
    )


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
