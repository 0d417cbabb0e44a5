"""The description of a trace format: its name, its reader, and how its files are recognised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workloads.options import ReadOptions
from workloads.reading.head import Head
from workloads.rows import Rows

__all__ = ["Head", "TraceFormat"]


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A trace format, a value of `workloads.formats.FORMATS`.

    Parameters
    ----------
    name
        The name that `--format` takes.
    title
        One line for users: what the files hold, in which units.
    read
        Returns the rows of the file at a path; raises `DataError` for a file it cannot use.
    matches
        Returns whether the beginning of a file looks like this format. Where several formats
        match, the first in `FORMATS` is taken, so stricter ones come first.
    options
        The names in `ReadOptions` that `read` uses, besides those in `options.EVERYWHERE`.
    not_needed
        Known fields that are deliberately ignored, by their path in the file, and why. They are
        not reported as unused. `*.NAME` is the field at any depth.
    """

    name: str
    title: str
    read: Callable[[Path, ReadOptions], Rows]
    matches: Callable[[Head], bool]
    options: frozenset[str] = frozenset()
    not_needed: Mapping[str, str] = field(default_factory=dict)
