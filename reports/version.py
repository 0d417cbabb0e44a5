"""Versions of Milepost and of the libraries that it uses."""

from __future__ import annotations

from functools import lru_cache

LIBRARIES = ("altair", "numpy", "polars", "scipy", "simpy")


@lru_cache(maxsize=1)
def version() -> str:
    """Return the installed version, or "unknown" in a bare checkout."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("milepost")
    except PackageNotFoundError:
        return "unknown"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results and pages depend on."""
    import platform
    from importlib.metadata import version as installed

    return {
        "python": platform.python_version(),
        **{library: installed(library) for library in LIBRARIES},
    }
