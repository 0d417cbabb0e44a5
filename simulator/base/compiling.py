"""The decorator `mypyc_attr`, which configures how mypyc compiles a class.

It does nothing at run time, so that mypy_extensions need not be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:
    T = TypeVar("T")

    def mypyc_attr(**_):
        """Return a decorator that returns its class unchanged."""
        return lambda cls: cls


__all__ = ["mypyc_attr"]
