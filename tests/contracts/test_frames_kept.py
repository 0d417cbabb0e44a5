"""Profilers and schedulers that sample frames keep their locals alive; no policy may mind.

Dask's workers do so on a thread of their own. What may not happen is that a numpy view of a
growing array outlives the call that made it: the array could not grow any more (BufferError).
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType

import pytest

from policies.registry import create
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from tests.contracts.plugins import names
from tests.contracts.test_placers import SPECS as PLACER_SPECS
from workloads.synthetic import SyntheticSpec, generate

KINDS = ("eviction", "admission", "placer")
DEFAULTS = {"eviction": "lru", "admission": "always", "placer": "branch"}
SPECS = [(kind, name) for kind in ("eviction", "admission") for name in names(kind)]
SPECS += [("placer", spec) for spec in PLACER_SPECS]
VIEWS = [("eviction", "seglen"), ("eviction", "marconi:alpha=1"), ("eviction", "value")]


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(SyntheticSpec(requests=400, seed=1))


def replay(trace: Trace, kind: str, spec: str) -> int:
    from calibration.catalogue import open_profile

    policies = {each: partial(create, each, DEFAULTS[each]) for each in KINDS}
    policies[kind] = partial(create, kind, spec)
    profile = open_profile("qwen3.5-9b-h200")
    result = simulate(
        trace, Scenario(profile, **policies, capacity_bytes=2 << 30, server="instant")
    )
    return int(result.columns["saved_tokens"].sum())


@contextmanager
def locals_kept() -> Iterator[list[object]]:
    """Keep the locals of every call of a policy, as the keenest of samplers would."""
    kept: list[object] = []

    def keep(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and "/policies/" in frame.f_code.co_filename:
            kept.append(frame.f_locals.copy())

    sys.setprofile(keep)
    try:
        yield kept
    finally:
        sys.setprofile(None)


@contextmanager
def frames_sampled() -> Iterator[list[object]]:
    """Keep the frames of all threads, sampled by a thread of its own."""
    kept: list[object] = []
    over = threading.Event()

    def sample() -> None:
        while not over.is_set():
            for frame in sys._current_frames().values():
                # Where a call ends meanwhile, its frame may name anything as its caller.
                with suppress(AttributeError):
                    kept.extend((each, each.f_locals) for each, _ in traceback.walk_stack(frame))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield kept
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(("kind", "spec"), SPECS + VIEWS)
def test_no_view_of_a_growing_array_outlives_a_call(trace: Trace, kind: str, spec: str) -> None:
    with locals_kept() as kept:
        watched = replay(trace, kind, spec)
    assert kept or spec in DEFAULTS.values()
    del kept
    assert watched == replay(trace, kind, spec)


@pytest.mark.parametrize(("kind", "spec"), VIEWS)
def test_a_thread_may_sample_frames(trace: Trace, kind: str, spec: str) -> None:
    with frames_sampled() as kept:
        sampled = replay(trace, kind, spec)
    assert kept
    assert sampled == replay(trace, kind, spec)
