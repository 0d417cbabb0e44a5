"""Arrival times of turns in a closed loop: files with waits between turns in place of times.

Such files do not contain how long an answer takes, so a typical decoding speed is assumed: without
it, a turn would arrive while its own session's prompt is still being computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from workloads.instants import Ticks, exact
from workloads.rows import Rows

ANSWER_SECONDS_PER_TOKEN = Decimal("0.02")  # 50 tokens/s


def turn_ticks(
    start: Ticks, outputs: Sequence[int], waits: Sequence[Ticks], ticks_per_second: float
) -> list[int | Decimal]:
    """Return the time of each turn of a session.

    Parameters
    ----------
    start
        Time of the first turn, in ticks.
    outputs
        Tokens of each turn's answer.
    waits
        Ticks between the end of each turn's answer and the next turn (the last is not used).
    ticks_per_second
        Ticks per second of all times.
    """
    times = [exact(start)]
    for output, wait in zip(outputs[:-1], waits[:-1], strict=True):
        times.append(times[-1] + answer_ticks(output, ticks_per_second) + exact(wait))
    return times


def answer_ticks(output_tokens: int, ticks_per_second: float) -> Decimal:
    """Return the assumed duration of an answer in ticks."""
    return output_tokens * ANSWER_SECONDS_PER_TOKEN * int(ticks_per_second)


def note_closed_loop(rows: Rows, line: int) -> None:
    """Note a turn whose time is derived from the turn before."""
    speed = f"{1 / float(ANSWER_SECONDS_PER_TOKEN):g} tokens/s"
    what = f"a turn without a time of its own: it comes its wait after an answer at {speed}"
    rows.note("closed-loop", line, what)
