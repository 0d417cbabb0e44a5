"""Remembers what was worked out from a file for as long as the file stays as it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

Stamp = tuple[int, int, int, int, int]  # device, inode, size, times of change of content and inode

# File systems tell times in steps, so two contents of one size may have one stamp where they were
# written within a step. A file is remembered only once it is older than any step.
SETTLED_SECONDS = 2.0

P = ParamSpec("P")
T = TypeVar("T")
PathLike = TypeVar("PathLike", str, Path)
OfFile = Callable[Concatenate[PathLike, P], T]


def stamp_of(path: str | Path) -> Stamp | None:
    """Return what tells one state of a file from another; None where there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116 (a name may be no path at all)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def remembered(
    maxsize: int, *, ours: bool = False
) -> Callable[[OfFile[PathLike, P, T]], OfFile[PathLike, P, T]]:
    """Return a decorator that remembers a function of a path while the file is unchanged.

    The first argument is the path, or a name that may be one. What is no file is remembered by
    its name; what was written in the last two seconds is worked out each time.

    Parameters
    ----------
    maxsize
        Results that are kept, the ones used last.
    ours
        Whether the files are written by `simulator.base.files` alone: whole, under a name of their
        own first. Then a new content is always a new file, and young ones are remembered too.
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
            # Typed as taking anything hashable, it would hide the types of the function.
            return cast("Callable[..., T]", known)(stamp, path, *args, **kwargs)

        return wrapper

    return decorate


def _is_fresh(stamp: Stamp) -> bool:
    age_seconds = time.time() - max(stamp[-2:]) / 1e9
    return abs(age_seconds) < SETTLED_SECONDS
