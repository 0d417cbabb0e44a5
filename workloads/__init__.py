"""Readers of trace files and generators of synthetic traffic; all return a `Trace`.

`open_trace` is imported on first use, so that importing this package stays fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workloads.opening import open_trace

__all__ = ["open_trace"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'workloads' has no attribute '{name}'")
    from workloads import opening

    return getattr(opening, name)
