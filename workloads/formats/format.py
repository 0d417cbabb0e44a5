"""What a trace format is: a name, a reader, and how its files are told from others."""

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
        What `--format` takes.
    title
        One line for people: what the files hold, in which units.
    read
        A path in, rows out; raises `DataError` for a file that does not hold what it should.
    matches
        Whether the beginning of a file looks like this format. At most one format should say
        yes; where several do, the first in `FORMATS` is taken, so the stricter stands first.
    options
        The names in `ReadOptions` that `read` looks at, besides those of `options.EVERYWHERE`.
    not_needed
        Fields that the format knows and leaves out, by their path in the file, and why. They are
        not told as unused. `*.NAME` stands for the field in any place.
    """

    name: str
    title: str
    read: Callable[[Path, ReadOptions], Rows]
    matches: Callable[[Head], bool]
    options: frozenset[str] = frozenset()
    not_needed: Mapping[str, str] = field(default_factory=dict)
