"""Errors caused by user input, each with the exit code of the command line."""

from __future__ import annotations

from difflib import get_close_matches


class MilepostError(Exception):
    """Base class of errors that are reported as one line, without a traceback."""

    exit_code = 1


class UsageError(MilepostError):
    """An invalid flag, key, policy or setting."""

    exit_code = 2


class SettingError(UsageError):
    """A setting with an invalid value.

    The command line catches it to replace `name` by the flag or file key that the user wrote.

    Parameters
    ----------
    name
        A keyword such as "block", or a key of a study file such as "workload.block".
    problem
        What was expected and what was found.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem

    def __reduce__(self) -> tuple[type[SettingError], tuple[str, str]]:
        return type(self), (self.name, self.problem)


class DataError(MilepostError):
    """A file with invalid content.

    Parameters
    ----------
    source
        File name as the user gave it.
    problem
        What was expected and what was found.
    line
        Line number, counted from 1, if known.
    field
        Name of the invalid field, if known.
    """

    exit_code = 3

    def __init__(
        self, source: str, problem: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        place = printable(source) if line is None else f"{printable(source)}:{line}"
        what = problem if field is None else f"field '{printable(field)}': {problem}"
        super().__init__(f"{place}: {what}")
        self.source = source
        self.line = line
        self.field = field
        self.problem = problem


def printable(text: str, limit: int = 200) -> str:
    """Return `text` on one line: control characters escaped, cut after `limit` characters."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


def did_you_mean(name: str, known: list[str]) -> str:
    """Return a hint for an unknown name: "; did you mean 'lru'?", or the list of known names."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; expected one of: {', '.join(known)}"
