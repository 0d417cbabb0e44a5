"""The command line that repeats a command, as its page shows it, and the check of a page's name."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

from simulator.base.errors import UsageError, printable

TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())
OUTPUTS = {"--out": "DIR", "--page": "PAGE.html"}
SILENT = {"-q", "--quiet", "--json", "--dry-run"}  # flags that change no result
WORKERS = {"--jobs", "--cluster"}  # options that change no result
SUFFIXES = (".html", ".htm")


def typed_again(otherwise: str) -> str:
    """Return the command line that was typed, its output paths replaced by placeholders.

    `otherwise` is returned where no command line was typed, as in a call from Python.
    """
    words = TYPED.get()
    return shlex.join(["milepost", *_repeated(words)]) if words else otherwise


def html_page(path: Path | None) -> None:
    """Refuse a path that does not end in .html or .htm, before anything is computed.

    Raises
    ------
    UsageError
        When the name does not end as that of an HTML file does.
    """
    if path is None or path.suffix.lower() in SUFFIXES:
        return
    shown = printable(path.suffix or path.name, 40)
    advice = "; a browser prints it as a PDF" if path.suffix.lower() == ".pdf" else ""
    raise UsageError(
        f"--page: a page is HTML: expected a name that ends in .html, found '{shown}'{advice}"
    )


def _repeated(words: Sequence[str]) -> Iterator[str]:
    placed: str | None = None  # the flag that the next word belongs to
    for word in words:
        flag = word.partition("=")[0]
        if placed is not None:
            if placed in OUTPUTS:
                yield _place(placed, word)
            placed = None
        elif word in WORKERS:
            placed = word
        elif word in OUTPUTS:
            yield word
            placed = word
        elif flag in OUTPUTS:
            yield f"{flag}={_place(flag, word.partition('=')[2])}"
        elif word not in SILENT and flag not in WORKERS:
            yield word


def _place(flag: str, given: str) -> str:
    """Return a placeholder for an output path: PAGE.html or that of the flag."""
    return "PAGE.html" if given.lower().endswith(SUFFIXES) else OUTPUTS[flag]
