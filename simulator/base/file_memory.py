"""A cache decorator for functions of a file, invalidated when the file changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

Stamp = tuple[int, int, int, int, int]  # device, inode, size, times of change of content and inode

# Timestamps of file systems are coarse: two versions of a file with the same size, written shortly
# after one another, may have equal stamps. So only files older than this are cached.
SETTLED_SECONDS = 2.0

P = ParamSpec("P")
T = TypeVar("T")
PathLike = TypeVar("PathLike", str, Path)
OfFile = Callable[Concatenate[PathLike, P], T]


def stamp_of(path: str | Path) -> Stamp | None:
    """Return a fingerprint that changes when the file does; None if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116 (a name may be no path at all)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def remembered(
    maxsize: int, *, ours: bool = False
) -> Callable[[OfFile[PathLike, P, T]], OfFile[PathLike, P, T]]:
    """Return a decorator that caches a function of a path while the file is unchanged.

    The first argument of the function is a path, or a name that may be a path. If it is not a file,
    the result is cached by name. Results for files modified in the last two seconds are not cached.

    Parameters
    ----------
    maxsize
        Number of results to keep (least recently used ones are dropped).
    ours
        Whether only `simulator.base.files` writes these files. It replaces files atomically, so
        new content always has a new inode; then recently written files are cached too.
    """

    def decorate(function: OfFile[PathLike, P, T]) -> OfFile[PathLike, P, T]:
        @lru_cache(maxsize=maxsize)
        def known(stamp: Stamp | None, /, path: PathLike, *args: P.args, **kwargs: P.kwargs) -> T:
            del stamp
            return function(path, *args, **kwargs)

        @wraps(function)
        def wrapper(path: PathLike, /, *args: P.args, **kwargs: P.kwargs) -> T:
            stamp = stamp_of(path)
            if stamp is not None and not ours and _is_fresh(stamp):
                return function(path, *args, **kwargs)
            # `lru_cache` is typed as taking any hashable, which would hide the function's types.
            return cast("Callable[..., T]", known)(stamp, path, *args, **kwargs)

        return wrapper

    return decorate


def _is_fresh(stamp: Stamp) -> bool:
    """Tell whether the file was modified less than `SETTLED_SECONDS` ago."""
    age_seconds = time.time() - max(stamp[-2:]) / 1e9
    return abs(age_seconds) < SETTLED_SECONDS
