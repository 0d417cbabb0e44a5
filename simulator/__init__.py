"""The event loop, the shared prefix cache, costs and records.

`simulate` and `Scenario` are loaded when they are first used: this package stays light, so that
placers can be used where simpy is absent. Everything else is imported from its module.
"""

from typing import TYPE_CHECKING, Any

import simulator.base.compiled  # noqa: F401 - before any module that it may turn away

if TYPE_CHECKING:
    from simulator.simulation import Scenario, simulate

__all__ = ["Scenario", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'simulator' has no attribute '{name}'")
    from simulator import simulation

    return getattr(simulation, name)
