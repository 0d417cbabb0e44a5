"""Simulated against measured: a trace served by a real model.

Needs only numpy, scipy and torch, so that it runs on the machine with the GPU
(`python -m reports.prototype.alone`); the page can be made elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import make_folder
from reports.prototype.setup import Setup, built, check, profile_of, rules_of, trace_of
from reports.words import capacity_words
from simulator.base.files import write_text
from simulator.base.units import parse_capacity
from simulator.costs.profile import profile_to_json

if TYPE_CHECKING:
    from calibration.prototype.run import Outcome
    from calibration.prototype.served import PrototypeRun, Served
    from calibration.prototype.site import Site
    from simulator.costs.profile import Profile
    from simulator.trace.trace import Trace

RUN_FILE, PROFILE_FILE = "prototype.json", "profile.json"
CLOCKS = {
    "cpu": "processor time, a reference pass beside each",
    "cuda": "device events",
}


def measure(
    setup: Setup,
    on_progress: Callable[[int, int], None] | None = None,
    site: Site | None = None,
) -> tuple[PrototypeRun, Profile]:
    """Serve a trace with a model; return the measured run, and the profile used to simulate it.

    Parameters
    ----------
    setup
        The model, the trace and the cache.
    on_progress
        Called with the requests served so far in all passes, and the number to serve.
    site
        The model of the setup, if it has been built.

    Raises
    ------
    UsageError, DataError, InexactError
        For a setup that is invalid, or states of the model that are not exact.
    """
    from calibration.preflight import check_libraries
    from calibration.prototype.rules import check_servable

    check(setup)
    trace = trace_of(setup)
    rules = rules_of(setup)
    check_servable(trace, rules)  # raises errors before anything is built
    profile = profile_of(setup)
    check_libraries()
    from calibration.prototype.compare import Plan, compare

    site = built(setup) if site is None else site
    plan = Plan(trace, rules, profile, setup.stretched_to, setup.passes, setup.seed)
    done = 0

    def note(served: Served) -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, setup.passes * len(trace))

    profile, outcome = compare(site, plan, note)
    return run_of(setup, site, trace, profile, outcome), profile


def run_of(
    setup: Setup, site: Site, trace: Trace, profile: Profile, outcome: Outcome
) -> PrototypeRun:
    """Return the run with a description of its setup."""
    from calibration.preflight import software
    from calibration.prototype.served import PrototypeRun, Setting
    from policies.registry import canonical

    capacity = parse_capacity(setup.capacity)
    versions = software(site.machine.kind)
    setting = Setting(
        model=site.subject.name,
        scale=site.scale,
        dtype=site.dtype,
        device=site.machine.name,
        software=", ".join(f"{name} {version}" for name, version in versions.items()),
        clock=CLOCKS[site.machine.kind],
        profile=profile.profile_id,
        profile_model=profile.model.name,
        profile_kind=profile.kind,
        profile_source=profile.source,
        trace=trace.name,
        placer=canonical("placer", setup.placer),
        eviction=canonical("eviction", setup.eviction),
        admission=canonical("admission", setup.admission),
        capacity=capacity_words(capacity),
    )
    return PrototypeRun(
        schema_version=1,
        setting=setting,
        requests=outcome.served,
        sameness=outcome.sameness,
        state_bytes=outcome.state_bytes,
        profile_state_bytes=profile.state_bytes,
        extrapolated_requests=sum(
            each.computed_tokens > profile.valid_n_max or each.saved_tokens > profile.valid_c_max
            for each in outcome.served
        ),
    )


def write_measured(folder: Path, run: PrototypeRun, profile: Profile) -> None:
    """Write a run and the profile used to simulate it.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    from calibration.prototype.served import write_run

    make_folder(folder)
    write_run(folder / RUN_FILE, run)
    write_text(folder / PROFILE_FILE, profile_to_json(profile))
