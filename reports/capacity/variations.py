"""Variations of a study: traffic, prompts, model, precision of KV and states.

Each variation changes one thing in the study of a candidate and nothing else, or says why it cannot
be done honestly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from reports.capacity.candidates import Candidate, changed
from reports.capacity.searching import Searching
from reports.study.cells import Cell
from reports.study.scenario import profile_named
from reports.study.sections import DEFAULT_RATE, ArrivalSection
from reports.study.traces import open_stored
from reports.study.traffic import GENERATED_RATE, keeps_times, process_of, traffic_of
from simulator.base.errors import UsageError

MORE, LESS = 1.2, 0.8
_LENGTHS = ("tokens_median", "_tokens")


@dataclass(frozen=True, slots=True)
class Variation:
    """A variation: its name, what it rests on, and the candidate, or why there is none."""

    name: str
    note: str
    candidate: Candidate | None


def variations(candidate: Candidate, searching: Searching) -> Iterator[Variation]:
    """Yield every variation of a candidate.

    Parameters
    ----------
    candidate
        The candidate that is varied.
    searching
        The searches of the question, through which its stored workloads are read.
    """
    for name, make in VARIATIONS.items():
        try:
            pairs = [make(cell, searching) for cell in candidate.cells]
        except UsageError as error:
            yield Variation(name, str(error), None)
            continue
        cells = tuple(cell for cell, _ in pairs)
        yield Variation(name, pairs[0][1], replace(candidate, name=name, cells=cells))


def _busier(cell: Cell, searching: Searching) -> tuple[Cell, str]:
    return _traffic(cell, searching, MORE)


def _calmer(cell: Cell, searching: Searching) -> tuple[Cell, str]:
    return _traffic(cell, searching, LESS)


def _traffic(cell: Cell, searching: Searching, factor: float) -> tuple[Cell, str]:
    """Change the rate of requests.

    The times of a trace are stretched, so that its requests and their order stay the same. In
    generated traffic, conversations begin at another rate and their pauses stay the same, so turns
    interleave differently.
    """
    study = cell.study
    if study.server.timeless:
        raise UsageError("the instant server knows the order of requests only")
    task = searching.task(cell)
    if study.workload.trace is not None and task.facts.has_arrivals:
        rate = _recorded_rate(cell, task.trace) * factor
        note = f"the trace's own times, stretched to {rate:.3g} requests/s"
        return changed(cell, arrivals=ArrivalSection(process="trace", rate=rate)), note
    default = GENERATED_RATE if study.workload.trace is None else DEFAULT_RATE
    process = process_of(study, default)
    rate = process.rate_per_second * factor
    note = f"{rate:.3g} requests/s"
    if study.arrivals.process is None:
        return changed(cell, arrivals=ArrivalSection(rate=rate)), note
    from workloads.arrivals import process_name

    return changed(cell, arrivals=ArrivalSection(process=process_name(process.at_rate(rate)))), note


def _recorded_rate(cell: Cell, path: Path) -> float:
    """Return the rate at which a trace with times is replayed."""
    arrivals = cell.study.arrivals
    if arrivals.process is not None:
        process = process_of(cell.study, DEFAULT_RATE)
        rate = process.rate if keeps_times(process) else None
        if rate is not None:
            return rate
    times = open_stored(path).arrival_seconds
    if times is None or len(times) < 2 or times[-1] <= times[0]:
        raise UsageError("the times of the trace do not differ: they have no rate")
    return float((len(times) - 1) / (times[-1] - times[0]))


def _longer(cell: Cell, _: Searching) -> tuple[Cell, str]:
    """Make every part of generated prompts longer."""
    from workloads.synthetic import generator_name

    workload = cell.study.workload
    if workload.trace is not None:
        raise UsageError("a trace does not tell which tokens of longer prompts would be shared")
    own = traffic_of(cell.study).generator
    longer, names = _lengthened(own, MORE)
    note = f"{', '.join(names)} x {MORE:g}"
    if workload.generator is not None:
        named = workload.model_copy(update={"generator": generator_name(longer)})
        return changed(cell, workload=named), note
    knobs = workload.knobs | {name: getattr(longer, name) for name in names}
    return changed(cell, workload=workload.model_copy(update={"knobs": knobs})), note


def _lengthened(generator: Any, factor: float) -> tuple[Any, list[str]]:
    """Return a generator whose lengths are longer, and the names of those lengths."""
    from workloads.synthetic import Mixture

    if isinstance(generator, Mixture):
        parts = [(share, *_lengthened(member, factor)) for share, member in generator.members]
        names = list(dict.fromkeys(name for _, _, lengthened in parts for name in lengthened))
        return Mixture(tuple((share, member) for share, member, _ in parts)), names
    names = [known.name for known in fields(generator) if known.name.endswith(_LENGTHS)]
    if not names:
        raise UsageError("this generator has no lengths to change")
    values = {name: round(getattr(generator, name) * factor) for name in names}
    return replace(generator, **values), names


def _bigger(cell: Cell, _: Searching) -> tuple[Cell, str]:
    """Take the next larger model, on the same GPU."""
    from calibration.catalogue import profile_names
    from calibration.gpus import GPUS
    from simulator.costs.geometry import MODELS

    profile = profile_named(cell.study.model.profile)
    sizes = {name: g.parameters for name, g in MODELS.items() if g.feed_forward is not None}
    gpus = {gpu.full_name: name for name, gpu in GPUS.items()}
    own, gpu = sizes.get(profile.model.name), gpus.get(profile.hardware.name)
    if own is None or gpu is None:
        raise UsageError(f"no larger model is known for {profile.model.name} on this machine")
    larger = sorted((size, name) for name, size in sizes.items() if size > own)
    if not larger:
        raise UsageError(f"no larger model than {profile.model.name} is known")
    if profile.lossy is not None:
        raise UsageError("KV or states are compressed in a way that belongs to this model")
    model = larger[0][1]
    shipped = f"{model}-{gpu}"
    name = shipped if shipped in profile_names() else f"analytic:model={model},gpu={gpu}"
    return _profiled(cell, name), f"profile {name}"


def _fp8(cell: Cell, _: Searching) -> tuple[Cell, str]:
    """Keep KV in 8 bits."""
    if profile_named(cell.study.model.profile).kv_compression is not None:
        raise UsageError("KV is compressed already")
    return _smaller(cell, "kv=fp8")


def _int8(cell: Cell, _: Searching) -> tuple[Cell, str]:
    """Keep states in 8 bits."""
    if profile_named(cell.study.model.profile).state_compression is not None:
        raise UsageError("states are compressed already")
    return _smaller(cell, "state=int8")


def _smaller(cell: Cell, option: str) -> tuple[Cell, str]:
    """Add one option to the profile, such as 8-bit KV."""
    from calibration.options import split_options

    name = cell.study.model.profile
    optioned = name.startswith("analytic:") or split_options(name)[1]
    varied = f"{name}{',' if optioned else ':'}{option}"
    profile_named(varied)  # refuses what cannot be told in bytes
    return _profiled(cell, varied), f"profile {varied}; lossy"


def _profiled(cell: Cell, name: str) -> Cell:
    return changed(cell, model=cell.study.model.model_copy(update={"profile": name}))


VARIATIONS: dict[str, Callable[[Cell, Searching], tuple[Cell, str]]] = {
    "traffic +20 %": _busier,
    "traffic -20 %": _calmer,
    "prompts 20 % longer": _longer,
    "a bigger model": _bigger,
    "KV in fp8": _fp8,
    "states in int8": _int8,
}
WORKLOADS_VARIED = 3  # of these have, of generated traffic, a workload of their own
