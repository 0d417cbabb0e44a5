"""Terminal output: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from simulator.base.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_EVERY_SECONDS = 5.0
PIPE_COLUMNS = 100
LINES = 25  # rich asks the terminal for both or for neither
FEWEST_COLUMNS, MOST_COLUMNS = 20, 10_000
LONGEST_NAME, LONGEST_WORD = 24, 14  # longer ones may be broken where a table has little room
MOST_CHARACTERS = 10_000  # of a cell; no name or setting is longer


def say(text: str) -> None:
    """Write a line to stderr."""
    print(printable(text, limit=4000), file=sys.stderr)


def print_line(text: str) -> None:
    """Print a line to stdout; what a hostile file name holds is escaped."""
    print(printable(text, limit=4000))


def print_json(value: Any) -> None:
    """Print one JSON object to stdout, in ASCII, which every terminal and pipe can carry."""
    print(json.dumps(value, indent=2, allow_nan=False))


def minutes_text(*minutes: float) -> str:
    """Return "under a minute", "about 3.2 min" or "about 0.4 to 12 min" of an estimate."""
    if max(minutes) < 1:
        return "under a minute"
    return f"about {' to '.join(f'{each:,.{int(each < 10)}f}' for each in minutes)} min"


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table to stdout; the cells are text, never markup."""
    console = stdout()
    texts = [[printable(cell, limit=MOST_CHARACTERS) for cell in row] for row in rows]
    if sum(width + 2 for width in least_widths(head, texts)) <= console.width or len(head) < 3:
        console.print(_table(head, texts, title, console.width))
        return
    if title:
        console.print(title)
    for first, *others in texts:  # each row a list of its own: the columns stand below each other
        console.print(f" {first}", overflow="fold")
        pairs = [pair for pair in zip(head[1:], others, strict=True) if pair[1]]
        console.print(
            _table(("", ""), [(f"  {name}", cell) for name, cell in pairs], None, console.width)
        )


def least_widths(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the least width of each column of a table at which few words are broken."""
    words = ([max(map(len, text.split()), default=0) for text in row] for row in (head, *rows))
    longest = [max(column) for column in zip(*words, strict=True)]
    return [min(longest[0], LONGEST_NAME), *(min(word, LONGEST_WORD) for word in longest[1:])]


def widths(head: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> list[int]:
    """Return the width of each column of a table that has `most` characters in all.

    No column is wider than it needs; where room is short, the widest give way, as long as few words
    are broken by it.
    """
    needed = [max(map(len, column)) or 1 for column in zip(head, *rows, strict=True)]
    least = least_widths(head, rows)
    if sum(least) > most:
        needed, least = least, [1] * len(least)
    level = max(needed)
    while level > 1 and sum(_levelled(needed, least, level)) > most:
        level -= 1
    return _levelled(needed, least, level)


def _levelled(needed: Sequence[int], least: Sequence[int], level: int) -> list[int]:
    return [min(n, max(m, level)) for n, m in zip(needed, least, strict=True)]


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], title: str | None, width: int
) -> Table:
    """Return a table whose cells are folded where they do not fit, and never cut."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, title_justify="left", box=None)
    table.show_header = any(head)
    for name, each in zip(head, widths(head, rows, width - 2 * len(head)), strict=True):
        table.add_column(Text(name), overflow="fold", width=each)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def stdout() -> Console:
    """Return a console on stdout that leaves text as it is.

    It is as wide as the terminal, or as COLUMNS says; without either, as PIPE_COLUMNS.
    """
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdecimal() and int(columns):
        width = int(columns)
    elif sys.stdout.isatty():
        width = shutil.get_terminal_size((PIPE_COLUMNS, LINES)).columns
    else:
        width = PIPE_COLUMNS
    width = min(max(width, FEWEST_COLUMNS), MOST_COLUMNS)
    return Console(
        file=sys.stdout, markup=False, highlight=False, emoji=False, width=width, height=LINES
    )


class Progress:
    """Cells done and time left, on stderr: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, *, quiet: bool, what: str = "cells", resumable: bool = False) -> None:
        self._quiet = quiet
        self._resumable = resumable
        self._what = what
        self._bar = _bar(what) if sys.stderr.isatty() and not quiet else None
        self._last_line = time.monotonic()
        self._first: int | None = None  # done before
        self._rated: tuple[float, int] | None = None  # when the rate began to count, and at what

    def __enter__(self) -> Callable[[int, int], None]:
        return self.update

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        if self._bar is not None:
            self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        elif not self._quiet:
            self._line(done, total)

    def _line(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = done
            if done and self._resumable:
                say(f"{done} of {total} {self._what} were done before")
        elif done == total:
            say(f"{done} of {total} {self._what}")
        elif self._rated is None:  # the first one took the time that workers need to start
            self._rated = (now, done)
        elif now - self._last_line >= PLAIN_EVERY_SECONDS:
            self._last_line = now
            since, done_then = self._rated
            left = (now - since) / max(done - done_then, 1) * (total - done)
            say(f"{done} of {total} {self._what}, about {left:.0f} s left")


def _bar(what: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=None)
    return bar
