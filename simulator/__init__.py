"""The simulator: event loop, shared prefix cache, costs and records.

`simulate` and `Scenario` are imported on first use, so that `import simulator` does not need SimPy
(the discrete-event library). Everything else is imported from its own module.
"""

from typing import TYPE_CHECKING, Any

import simulator.base.compiled  # noqa: F401 - first: it may disable compiled modules

if TYPE_CHECKING:
    from simulator.simulation import Scenario, simulate

__all__ = ["Scenario", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'simulator' has no attribute '{name}'")
    from simulator import simulation

    return getattr(simulation, name)
