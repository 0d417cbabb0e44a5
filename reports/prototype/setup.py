"""The setup of a prototype: the model, the trace and the cache, from plain settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError, printable
from simulator.base.flags import Flag
from simulator.base.units import parse_capacity, refuse_bare

if TYPE_CHECKING:
    from calibration.prototype.rules import Rules
    from calibration.prototype.site import Site
    from simulator.costs.profile import Profile
    from simulator.trace.trace import Trace

# Short enough for the toy model on a CPU; misses, cuts, replays and suffixes all occur.
GENERATOR = (
    "documents:count=4,tokens_median=400,template_tokens=16,instruction_tokens=8,"
    "question_tokens_median=40,answer_tokens_median=8"
)
LOAD = 0.4
MOST_REQUESTS, MOST_PASSES = 10_000, 100


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """Options of a prototype: the model, the trace and the cache.

    Without a trace file one is generated. `load` is as in `calibration.prototype.compare.Plan`;
    None keeps the times of a file, and is 0.4 where there are none.
    """

    model: Annotated[str, Flag("A name, or a Hugging Face folder.")] = "toy-qwen3.5"
    group: Annotated[bool, Flag("One layer group of it.")] = False
    device: Annotated[str, Flag("Where it runs.", "cpu|cuda")] = "cpu"
    dtype: Annotated[
        str | None, Flag("Default: float32 on a CPU, or bfloat16.", "float32|bfloat16|float16")
    ] = None
    trace: Annotated[Path | None, Flag("A trace file; without it: --generator.")] = None
    generator: Annotated[str, Flag("Of the trace.")] = GENERATOR
    requests: Annotated[int, Flag("To serve; of a file, the first ones.")] = 48
    load: Annotated[float | None, Flag("Stretch arrivals: share of time busy without a cache.")] = (
        None
    )
    placer: Annotated[str, Flag("As in block:size=64.")] = "branch"
    eviction: Annotated[str, Flag("As in fifo.")] = "lru"
    admission: Annotated[str, Flag("As in always.")] = "always"
    capacity: Annotated[str, Flag("As in '8 GiB'.")] = "unbounded"
    profile: Annotated[
        str | None, Flag("Name or JSON file; without it one is measured quickly.")
    ] = None
    passes: Annotated[int, Flag("How often the trace is served.")] = 3
    seed: Annotated[int, Flag("Of weights, tokens and traffic.")] = 0


@dataclass(frozen=True, kw_only=True)
class Setup(SetupOptions):
    """The options of a prototype, and how its trace file is read."""

    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stretched_to(self) -> float | None:
        """The load to which arrivals are stretched; None keeps the times of a file."""
        return LOAD if self.load is None and self.trace is None else self.load


def built(setup: Setup) -> Site:
    """Build the model of a setup."""
    from calibration.prototype.site import open_site

    return open_site(
        setup.model, group=setup.group, device=setup.device, dtype=setup.dtype, seed=setup.seed
    )


def check(setup: Setup) -> None:
    """Raise UsageError for numbers out of range."""
    for flag, value, most in (
        ("--requests", setup.requests, MOST_REQUESTS),
        ("--passes", setup.passes, MOST_PASSES),
    ):
        if not 1 <= value <= most:
            raise UsageError(f"{flag}: expected 1 to {most:,}, found {value}")
    refuse_bare(parse_capacity(setup.capacity, "--capacity"), setup.capacity, "--capacity")
    if setup.load is not None and not 1e-6 <= setup.load <= 100:
        raise UsageError(f"--load: expected 1e-6 to 100, found {setup.load:g}")
    if not 0 <= setup.seed <= MAX_SEED:
        raise UsageError(f"--seed: expected 0 to 2**63 - 1, found {setup.seed}")


def trace_of(setup: Setup) -> Trace:
    """Return the trace, with arrival times."""
    from workloads.arrivals import Poisson

    process = Poisson(1.0)
    if setup.trace is None:
        from workloads.drift import read_drift
        from workloads.synthetic import read_generator

        generator = read_generator(setup.generator)
        return generator.trace(setup.requests, setup.seed, process, read_drift(""))
    trace = _first(_opened(setup), setup.requests)
    if trace.arrival_seconds is None and len(trace):
        if setup.load is None:
            raise UsageError(f"trace '{trace.name}' has no arrival times: state a --load")
        return trace.with_arrivals(process.times(len(trace), setup.seed))
    return trace


def _opened(setup: Setup) -> Trace:
    try:
        from workloads.opening import open_trace
    except ImportError as error:
        raise UsageError(
            f"--trace needs {error.name}, which is not installed; generated traces do not"
        ) from None
    assert setup.trace is not None
    return open_trace(setup.trace, default_template=_template(setup), **setup.reading)


def _template(setup: Setup) -> str | None:
    """Return the chat template of the profile's model, None where no profile is named."""
    if setup.profile is None:
        return None
    from reports.study.template import template_of_profile

    return template_of_profile(setup.profile)


def _first(trace: Trace, requests: int) -> Trace:
    """Return the first requests of a trace, over the same prefix tree."""
    chosen = slice(requests)
    return replace(
        trace,
        leaf=trace.leaf[chosen],
        output_tokens=trace.output_tokens[chosen],
        session=trace.session[chosen],
        label=trace.label[chosen],
        arrival_seconds=None if trace.arrival_seconds is None else trace.arrival_seconds[chosen],
        after=None if trace.after is None else trace.after[chosen],
    )


def rules_of(setup: Setup) -> Rules:
    """Return the rules of the cache: its policies and capacity."""
    from calibration.prototype.rules import Rules
    from policies.registry import create

    return Rules(
        lambda: create("placer", setup.placer),
        lambda: create("eviction", setup.eviction),
        lambda: create("admission", setup.admission),
        parse_capacity(setup.capacity, "--capacity"),
    )


def profile_of(setup: Setup) -> Profile | None:
    """Return the profile that is named; None where one is to be measured."""
    if setup.profile is None:
        return None
    from calibration.catalogue import open_profile

    profile = open_profile(setup.profile)
    if profile.lossy is not None:
        raise UsageError(
            f"--profile {printable(setup.profile)}: is lossy ({profile.lossy}), and the prototype "
            "serves what the model itself computes"
        )
    return profile
