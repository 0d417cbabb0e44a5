"""What the compiler is told of classes. Plain Python has no need of it, nor of mypy_extensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:
    T = TypeVar("T")

    def mypyc_attr(**_):
        """Return a decorator that does nothing."""
        return lambda cls: cls


__all__ = ["mypyc_attr"]
