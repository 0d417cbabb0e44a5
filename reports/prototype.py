"""Simulated against measured: a trace served by a real model.

Needs no more than numpy, scipy and torch, so that it runs where the GPU is
(`python -m reports.prototype_alone`); the page can be made elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import UsageError
from simulator.units import format_bytes, parse_capacity

if TYPE_CHECKING:
    from calibration.prototype.rules import Rules
    from calibration.prototype.run import Outcome
    from calibration.prototype.served import PrototypeRun, Served
    from calibration.prototype.site import Site
    from simulator.profile import Profile
    from simulator.trace import Trace

# Short enough for the toy model on a CPU; misses, cuts, replays and suffixes all occur.
GENERATOR = (
    "documents:count=4,tokens_median=400,template_tokens=16,instruction_tokens=8,"
    "question_tokens_median=40,answer_tokens_median=8"
)
LOAD = 0.4
CLOCKS = {"cpu": "processor time", "cuda": "device events"}
MOST_REQUESTS, MOST_PASSES = 10_000, 100


@dataclass(frozen=True, slots=True)
class Setup:
    """What is asked for.

    Parameters
    ----------
    model, group, device, dtype
        As in `calibration.prototype.site.open_site`.
    trace, block, format
        A trace file and how it is read; None generates one.
    generator, requests
        Of the generated trace; of a file, only so many of the first requests are served.
    load
        As in `calibration.prototype.compare.Plan`; None keeps the times of a file, and is 0.4
        where there are none.
    placer, eviction, admission, capacity
        The cache.
    profile
        Name or file; None measures one.
    passes, seed
        As in `Plan`.
    """

    model: str = "toy-qwen3.5"
    group: bool = False
    device: str = "cpu"
    dtype: str | None = None
    trace: Path | None = None
    block: int | None = None
    format: str | None = None
    generator: str = GENERATOR
    requests: int = 48
    load: float | None = None
    placer: str = "branch"
    eviction: str = "lru"
    admission: str = "always"
    capacity: str = "unbounded"
    profile: str | None = None
    passes: int = 3
    seed: int = 0


def measure(
    setup: Setup,
    on_progress: Callable[[int, int], None] | None = None,
    site: Site | None = None,
) -> tuple[PrototypeRun, Profile]:
    """Serve a trace through a model; return what came of it, and the profile that priced it.

    Parameters
    ----------
    setup
        What is asked for.
    on_progress
        Called with the requests served so far, in all passes, and their number.
    site
        The model of the setup, if it has been built.

    Raises
    ------
    UsageError, DataError, InexactError
        For whatever is wrong with the setup, or with the states of the model.
    """
    from calibration.prototype.rules import check_servable

    _check(setup)
    trace = _trace(setup)
    rules = _rules(setup)
    check_servable(trace, rules())  # what is wrong is said before anything is built
    profile = _profile(setup)
    from calibration.prototype.compare import Plan, compare

    site = built(setup) if site is None else site
    load = LOAD if setup.load is None and setup.trace is None else setup.load
    plan = Plan(trace, rules, profile, load, setup.passes, setup.seed)
    done = 0

    def note(served: Served) -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, setup.passes * len(trace))

    profile, outcome = compare(site, plan, note)
    return _told(setup, site, trace, profile, outcome), profile


def built(setup: Setup) -> Site:
    """Build the model of a setup."""
    from calibration.prototype.site import open_site

    return open_site(
        setup.model, group=setup.group, device=setup.device, dtype=setup.dtype, seed=setup.seed
    )


def _check(setup: Setup) -> None:
    """Refuse numbers out of range."""
    for flag, value, most in (
        ("--requests", setup.requests, MOST_REQUESTS),
        ("--passes", setup.passes, MOST_PASSES),
    ):
        if not 1 <= value <= most:
            raise UsageError(f"{flag}: expected 1 to {most:,}, found {value}")
    if setup.load is not None and not 1e-6 <= setup.load <= 100:
        raise UsageError(f"--load: expected 1e-6 to 100, found {setup.load:g}")
    if not 0 <= setup.seed < 2**63:
        raise UsageError(f"--seed: expected 0 to 2**63 - 1, found {setup.seed}")


def _trace(setup: Setup) -> Trace:
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
    return open_trace(setup.trace, block=setup.block, format=setup.format)


def _first(trace: Trace, requests: int) -> Trace:
    """Return the first requests of a trace, over the same tree."""
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


def _rules(setup: Setup) -> Callable[[], Rules]:
    """Return what makes the policies anew."""
    from calibration.prototype.rules import Rules
    from policies.registry import create

    capacity = parse_capacity(setup.capacity, "--capacity")
    return lambda: Rules(
        create("placer", setup.placer),
        create("eviction", setup.eviction),
        create("admission", setup.admission),
        capacity,
    )


def _profile(setup: Setup) -> Profile | None:
    if setup.profile is None:
        return None
    from calibration.catalogue import open_profile

    return open_profile(setup.profile)


def _told(
    setup: Setup, site: Site, trace: Trace, profile: Profile, outcome: Outcome
) -> PrototypeRun:
    from calibration.preflight import software
    from calibration.prototype.served import PrototypeRun, Setting
    from policies.registry import canonical

    capacity = parse_capacity(setup.capacity)
    versions = software()
    setting = Setting(
        model=site.subject.name,
        scale=site.scale,
        dtype=site.dtype,
        device=site.machine.name,
        software=", ".join(f"{name} {said}" for name, said in versions.items()),
        clock=CLOCKS[site.machine.kind],
        profile=profile.profile_id,
        profile_model=profile.model.name,
        profile_kind=profile.kind,
        profile_source=profile.source,
        trace=trace.name,
        placer=canonical("placer", setup.placer),
        eviction=canonical("eviction", setup.eviction),
        admission=canonical("admission", setup.admission),
        capacity="unbounded" if capacity is None else format_bytes(capacity),
    )
    return PrototypeRun(
        schema_version=1,
        setting=setting,
        requests=outcome.served,
        sameness=outcome.sameness,
        state_bytes=outcome.state_bytes,
        profile_state_bytes=profile.state_bytes,
        extrapolated_requests=sum(_is_beyond(served, profile) for served in outcome.served),
    )


def _is_beyond(served: Served, profile: Profile) -> bool:
    """Say whether a request lies beyond the measured range of a profile."""
    computed, context = served.computed_tokens, served.saved_tokens
    return computed > profile.valid_n_max or context > profile.valid_c_max
