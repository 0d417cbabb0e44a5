"""The generator, the drift and the arrivals that a study names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from reports.study.generated import generator_fields
from reports.study.sections import ResolvedStudy
from simulator.base.errors import SettingError

if TYPE_CHECKING:
    from simulator.trace.trace import Trace
    from workloads.arrivals import ArrivalProcess, Recorded
    from workloads.drift import Drift
    from workloads.synthetic import Generator

GENERATED_RATE = (
    5.0  # requests/s of generated traffic, where a study names neither rate nor process
)


@dataclass(frozen=True, slots=True)
class GeneratedTraffic:
    """Generated traffic, all but its seed; `noted` where the trace is to say what it is."""

    generator: Generator
    requests: int
    drift: Drift
    arrivals: ArrivalProcess
    noted: bool

    def trace(self, seed: int) -> Trace:
        """Return the trace of a seed."""
        trace = self.generator.trace(self.requests, seed, self.arrivals, self.drift)
        if not self.noted:
            return trace
        settings = ", ".join(f"{name} {value}" for name, value in self.names().items() if value)
        return replace(trace, notes=(*trace.notes, f"generated: {settings}, seed {seed}"))

    def identity(self, seed: int) -> dict[str, Any]:
        """Return everything that the trace of a seed depends on, as plain values."""
        return {**self.names(), "requests": self.requests, "seed": seed}

    def names(self) -> dict[str, str]:
        """Return the strings that name generator, drift and arrivals."""
        from workloads.arrivals import process_name
        from workloads.drift import drift_name
        from workloads.synthetic import generator_name

        return {
            "generator": generator_name(self.generator),
            "drift": drift_name(self.drift),
            "arrivals": process_name(self.arrivals),
        }


def traffic_of(study: ResolvedStudy) -> GeneratedTraffic:
    """Return the generated traffic of a study without a trace file.

    Raises
    ------
    UsageError
        For anything unknown or out of range.
    """
    from workloads.drift import read_drift
    from workloads.synthetic import BuiltIn, read_generator

    name, knobs = study.workload.generator, dict(study.workload.knobs)
    requests = knobs.pop("requests", generator_fields()["requests"])
    process = process_of(study, GENERATED_RATE)
    if name is None:
        noted = study.arrivals.process is not None
        return GeneratedTraffic(BuiltIn(**knobs), requests, read_drift(""), process, noted)
    drift = read_drift(knobs.get("drift", ""))
    return GeneratedTraffic(read_generator(name), requests, drift, process, noted=True)


def process_of(study: ResolvedStudy, default_rate: float) -> ArrivalProcess:
    """Return the arrival process of a study: `arrivals.process` at `arrivals.rate`.

    Without a process it is Poisson; without a rate that is `default_rate`, or the rate that the
    process itself has.

    Raises
    ------
    UsageError
        For a process that is unknown or out of range, or has a rate beside `arrivals.rate`.
    """
    from workloads.arrivals import Poisson, read_process

    rate, text = study.arrivals.rate, study.arrivals.process
    if text is None:
        return Poisson(default_rate).at_rate(rate or default_rate)
    process = read_process(text)
    if rate is None:
        return process
    if process.rate is not None:
        raise SettingError("arrivals.rate", f"{rate:g} contradicts the rate in '{text}'")
    return process.at_rate(rate)


def keeps_times(process: ArrivalProcess) -> TypeGuard[Recorded]:
    """Say whether a process is the times that the trace has itself."""
    from workloads.arrivals import Recorded

    return isinstance(process, Recorded) and not process.path
