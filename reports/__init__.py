"""Studies, statistics, charts, pages and the command line.

`Study` and `Results` are the Python interface; they are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.api import Results, Study

__all__ = ["Results", "Study"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'reports' has no attribute '{name}'")
    from reports import api

    return getattr(api, name)
