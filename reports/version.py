"""Which Milepost this is."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def version() -> str:
    """Return the installed version, or "unknown" in a bare checkout."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("milepost")
    except PackageNotFoundError:
        return "unknown"
