"""Arrival processes: seeded draws of the times at which requests arrive, at a given mean rate."""

from __future__ import annotations

from simulator.base.parameters import create_named, name_of
from workloads.arrivals.base import ArrivalProcess
from workloads.arrivals.diurnal import Diurnal
from workloads.arrivals.flash import Flash
from workloads.arrivals.gamma import Gamma
from workloads.arrivals.mmpp import Mmpp
from workloads.arrivals.poisson import Poisson
from workloads.arrivals.recorded import Recorded
from workloads.arrivals.servegen import ServeGen
from workloads.arrivals.weibull import Weibull

ARRIVALS: dict[str, type[ArrivalProcess]] = {
    "poisson": Poisson,
    "gamma": Gamma,
    "weibull": Weibull,
    "mmpp": Mmpp,
    "diurnal": Diurnal,
    "flash": Flash,
    "servegen": ServeGen,
    "trace": Recorded,
}

__all__ = ["ARRIVALS", "ArrivalProcess", "Poisson", "Recorded", "process_name", "read_process"]


def read_process(text: str) -> ArrivalProcess:
    """Return the arrival process that a string describes, such as "gamma:rate=2,cv=3".

    Raises
    ------
    UsageError
        If the name, a parameter or a value is unknown, ill-typed or out of range.
    """
    return create_named("arrivals", ARRIVALS, text)


def process_name(process: ArrivalProcess) -> str:
    """Return the string that describes a process, as `read_process` takes it."""
    return name_of(ARRIVALS, process)
