"""Trace formats by name: one reader a file, a path in, `workloads.rows.Rows` out.

A reader is called with the path, the block size (None for the format's own) and what to do with
bad lines; it raises `DataError` for a file without any line.
"""

from collections.abc import Callable
from pathlib import Path

from workloads.formats.mooncake import read_mooncake
from workloads.rows import OnBadLine, Rows

FORMATS: dict[str, Callable[[Path, int | None, OnBadLine], Rows]] = {
    "mooncake": read_mooncake,
}
