"""What might be different: traffic, prompts, the model, the precision of KV and states.

Each variation changes one thing in the study of a candidate and nothing else, or says why it cannot
be done honestly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.capacity.candidates import Candidate, changed
from reports.capacity.workshop import Workshop
from reports.cells import Cell
from reports.files import make_folder
from reports.scenario import profile_named
from reports.study_file import DEFAULT_RATE, Arrivals
from reports.traces import open_stored
from reports.traffic import GENERATED_RATE, keeps_times, process_of, traffic_of
from simulator.errors import UsageError
from simulator.files import write_text

if TYPE_CHECKING:
    from simulator.profile import Profile

MORE, LESS = 1.2, 0.8
_BITS = {"float32": 32, "bfloat16": 16, "float16": 16}
_LENGTHS = ("tokens_median", "_tokens")


@dataclass(frozen=True, slots=True)
class Variation:
    """A variation: its name, what it rests on, and the candidate, or why there is none."""

    name: str
    note: str
    candidate: Candidate | None


def variations(candidate: Candidate, workshop: Workshop, folder: Path) -> Iterator[Variation]:
    """Yield every variation of a candidate.

    Parameters
    ----------
    candidate
        What is varied.
    workshop
        Where its workloads are stored.
    folder
        Where the profile with smaller states is written.
    """
    made: dict[str, Callable[[Cell], tuple[Cell, str]]] = {
        "traffic +20 %": lambda cell: _traffic(cell, workshop, MORE),
        "traffic -20 %": lambda cell: _traffic(cell, workshop, LESS),
        "prompts 20 % longer": _longer,
        "a bigger model": _bigger,
        "KV in fp8": _fp8,
        "states in int8": lambda cell: _int8(cell, folder / "profiles"),
    }
    for name, make in made.items():
        try:
            pairs = [make(cell) for cell in candidate.cells]
        except UsageError as error:
            yield Variation(name, str(error), None)
            continue
        cells = tuple(cell for cell, _ in pairs)
        yield Variation(name, pairs[0][1], replace(candidate, name=name, cells=cells))


def _traffic(cell: Cell, workshop: Workshop, factor: float) -> tuple[Cell, str]:
    """Change the rate of requests; who asks what, and in which order, stays."""
    study = cell.study
    if study.server.kind == "instant":
        raise UsageError("the instant server knows the order of requests only")
    path, facts = workshop.stored(cell)
    if study.workload.trace is not None and facts.has_arrivals:
        rate = _recorded_rate(cell, path) * factor
        told = f"the trace's own times, stretched to {rate:.3g} requests/s"
        return changed(cell, arrivals=Arrivals(process="trace", rate=rate)), told
    default = GENERATED_RATE if study.workload.trace is None else DEFAULT_RATE
    process = process_of(study, default)
    rate = process.rate_per_second * factor
    told = f"{rate:.3g} requests/s"
    if study.arrivals.process is None:
        return changed(cell, arrivals=Arrivals(rate=rate)), told
    from workloads.arrivals import process_name

    return changed(cell, arrivals=Arrivals(process=process_name(process.at_rate(rate)))), told


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


def _longer(cell: Cell) -> tuple[Cell, str]:
    """Make every part of generated prompts longer."""
    from workloads.synthetic import generator_name

    workload = cell.study.workload
    if workload.trace is not None:
        raise UsageError("a trace does not tell which tokens of longer prompts would be shared")
    own = traffic_of(cell.study).generator
    longer, names = _lengthened(own, MORE)
    told = f"{', '.join(names)} x {MORE:g}"
    if workload.generator is not None:
        named = workload.model_copy(update={"generator": generator_name(longer)})
        return changed(cell, workload=named), told
    knobs = workload.knobs | {name: getattr(longer, name) for name in names}
    return changed(cell, workload=workload.model_copy(update={"knobs": knobs})), told


def _lengthened(generator: Any, factor: float) -> tuple[Any, list[str]]:
    """Return a generator whose lengths are longer, and the names of those lengths."""
    from workloads.synthetic import Mixture

    if isinstance(generator, Mixture):
        parts = [(share, *_lengthened(member, factor)) for share, member in generator.members]
        names = list(dict.fromkeys(name for _, _, found in parts for name in found))
        return Mixture(tuple((share, member) for share, member, _ in parts)), names
    names = [known.name for known in fields(generator) if known.name.endswith(_LENGTHS)]
    if not names:
        raise UsageError("this generator has no lengths to change")
    values = {name: round(getattr(generator, name) * factor) for name in names}
    return replace(generator, **values), names


def _bigger(cell: Cell) -> tuple[Cell, str]:
    """Take the next larger model, on the same GPU."""
    from calibration.catalogue import profile_names
    from calibration.gpus import GPUS
    from simulator.model import MODELS

    profile = profile_named(cell.study.model.profile)
    sizes = {name: g.parameters for name, g in MODELS.items() if g.feed_forward is not None}
    gpus = {gpu.full_name: name for name, gpu in GPUS.items()}
    own, gpu = sizes.get(profile.model.name), gpus.get(profile.hardware.name)
    if own is None or gpu is None:
        raise UsageError(f"no larger model is known for {profile.model.name} on this machine")
    larger = sorted((size, name) for name, size in sizes.items() if size > own)
    if not larger:
        raise UsageError(f"no larger model than {profile.model.name} is known")
    if profile.kv_compression is not None:
        raise UsageError("KV is compressed in a way that belongs to this model")
    model = larger[0][1]
    shipped = f"{model}-{gpu}"
    name = shipped if shipped in profile_names() else f"analytic:model={model},gpu={gpu}"
    return _profiled(cell, name), f"profile {name}"


def _fp8(cell: Cell) -> tuple[Cell, str]:
    """Keep KV in 8 bits."""
    name = cell.study.model.profile
    profile = profile_named(name)
    if profile.kv_compression is not None:
        raise UsageError("KV is compressed already")
    analytic = name.startswith("analytic:")
    varied = f"{name}{',' if analytic else ':'}kv=fp8"
    return _profiled(cell, varied), f"profile {varied}; lossy"


def _int8(cell: Cell, folder: Path) -> tuple[Cell, str]:
    """Keep states in 8 bits: a profile of its own, as no option of a profile says so."""
    from simulator.profile import profile_to_json

    smaller = smaller_states(profile_named(cell.study.model.profile))
    path = folder / "int8-states.json"
    make_folder(folder)
    write_text(path, profile_to_json(smaller))
    told = f"{smaller.state.bytes_per_checkpoint / 2**20:.1f} MiB a checkpoint; lossy"
    return _profiled(cell, str(path)), told


def smaller_states(profile: Profile) -> Profile:
    """Return a profile whose states are kept in 8 bits, of the same times.

    Raises
    ------
    UsageError
        When the profile does not tell in how many bits they are.
    """
    state = profile.state
    kinds = state.dtypes or {}
    if not {kinds.get("ssm"), kinds.get("conv")} <= _BITS.keys():
        raise UsageError("the profile does not tell the number formats of its states")
    ssm = state.ssm_bytes * 8 // _BITS[kinds["ssm"]]
    conv = state.conv_bytes * 8 // _BITS[kinds["conv"]]
    rest = state.bytes_per_checkpoint - state.ssm_bytes - state.conv_bytes
    smaller = replace(
        state,
        ssm_bytes=ssm,
        conv_bytes=conv,
        bytes_per_checkpoint=ssm + conv + rest,
        dtypes={"ssm": "int8", "conv": "int8"},
    )
    return replace(profile, profile_id=f"{profile.profile_id}+int8-states", state=smaller)


def _profiled(cell: Cell, name: str) -> Cell:
    return changed(cell, model=cell.study.model.model_copy(update={"profile": name}))
