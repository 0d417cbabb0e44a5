"""Lookup of the files in a folder by suffix."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from simulator.base.errors import DataError
from workloads.reading.files import names_in
from workloads.reading.head import Head, read_head

_MOST_EMPTY = 20  # files searched for one that is not empty


def files_in(path: Path, suffixes: tuple[str, ...], levels: int = 1) -> Iterator[Path]:
    """Yield a file itself, or the files in a folder that end in one of `suffixes`, by name.

    Parameters
    ----------
    path
        A file or a folder.
    suffixes
        Suffixes such as ".jsonl".
    levels
        Depth of the search: 1 is the folder itself. Links to folders are not followed.

    Raises
    ------
    DataError
        For a folder that has no such file or cannot be read.
    """
    if not path.is_dir():
        yield path
        return
    has_files = False
    for file in _walk(path, suffixes, levels):
        has_files = True
        yield file
    if not has_files:
        raise DataError(str(path), f"expected files that end in {' or '.join(suffixes)}")


def first_head(path: Path, suffixes: tuple[str, ...], levels: int = 1) -> Head | None:
    """Return the beginning of a folder's first file that is not empty, None if there is none."""
    heads = map(read_head, islice(_walk(path, suffixes, levels), _MOST_EMPTY))
    return next((head for head in heads if head.text.strip()), None)


def _walk(folder: Path, suffixes: tuple[str, ...], levels: int) -> Iterator[Path]:
    for name in names_in(folder):
        inner = folder / name
        if inner.is_dir():
            if levels > 1 and not inner.is_symlink():
                yield from _walk(inner, suffixes, levels - 1)
        elif name.endswith(suffixes):
            yield inner
