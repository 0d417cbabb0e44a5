"""Handling of Ctrl-C: one line and exit code 130, also during start and end of a process.

While a command runs, an interrupt is Python's KeyboardInterrupt, which the command line catches.
Before that there is nothing to clean up, and the process leaves at once. After it the outcome is
settled, and an interrupt changes nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
_BEFORE, _RUNNING, _AFTER = range(3)
_phase = _BEFORE


def install() -> None:
    """Take over Ctrl-C, for a process that is `milepost` and nothing else."""
    signal.signal(signal.SIGINT, _on_interrupt)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt raise KeyboardInterrupt inside the block, and do nothing after it."""
    global _phase  # noqa: PLW0603  (a process has one phase, and a handler takes no arguments)
    _phase = _RUNNING
    try:
        yield
    finally:
        _phase = _AFTER


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold interrupts back until the block ends; processes that it starts never get them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    if _phase == _RUNNING:
        raise KeyboardInterrupt
    if _phase == _BEFORE:
        os.write(2, b"interrupted\n")
        os._exit(INTERRUPTED)
