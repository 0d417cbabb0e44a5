"""What every generator promises."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from simulator.base.errors import UsageError
from simulator.base.parameters import parameters_of
from tests.workloads.synthetic.paths import overlaps_by_sets
from workloads.arrivals import Poisson, read_process
from workloads.drift import DRIFTS, Drift, read_drift
from workloads.inspection import overlaps
from workloads.synthetic import (
    GENERATORS,
    BuiltIn,
    SessionGenerator,
    generator_name,
    read_generator,
)
from workloads.synthetic.traffic import in_time

MIXTURE = "0.5 documents:count=9 + 0.3 chats:turns_mean=3 + 0.1 agents:steps_mean=5 + 0.1 thoughts"
EVERY = [*GENERATORS, MIXTURE]
SESSIONS = [name for name in EVERY if name != "builtin"]
MOVING = ["", "shift:distance=0.2,at=0.5", "births:times=3 + growth:factor=3 + rewrites:times=2"]

every_generator = pytest.mark.parametrize("name", EVERY)
every_drift = pytest.mark.parametrize("drift", MOVING)


def columns(trace):
    tree = trace.tree
    after = np.zeros(0) if trace.after is None else trace.after
    named = (tree.parent, tree.stop, trace.leaf, trace.arrival_seconds, trace.output_tokens)
    return [*named, trace.session, trace.label, after]


@pytest.mark.parametrize("name", SESSIONS)
@every_drift
@pytest.mark.parametrize("requests", [1, 2, 700])
def test_a_trace_keeps_all_rules(name: str, drift: str, requests: int) -> None:
    trace = read_generator(name).trace(requests, 3, Poisson(2.0), read_drift(drift))
    assert trace.problem() is None
    assert len(trace) == requests
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds[0] == 0
    assert trace.granularity == 1
    assert trace.output_tokens.min() > 0
    assert trace.label.min() >= 0
    assert trace.label.max() < len(trace.labels)
    if trace.after is not None:
        known = trace.after >= 0
        answers = trace.tree.stop[trace.after[known]] - trace.prompt_tokens[known]
        assert (answers == trace.output_tokens[known]).all()


@every_generator
def test_one_seed_is_one_trace_and_another_seed_another(name: str) -> None:
    one, again, other = (
        columns(read_generator(name).trace(300, seed, Poisson(2.0), Drift())) for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[3], other[3])
    assert not np.array_equal(one[4], other[4])


@pytest.mark.parametrize("name", SESSIONS)
@every_drift
def test_overlaps_are_those_of_the_keys(name: str, drift: str) -> None:
    generator = read_generator(name)
    assert isinstance(generator, SessionGenerator)
    moving = read_drift(drift)
    requests, seed = 400, 5
    trace = generator.trace(requests, seed, Poisson(1.0), moving)
    sessions = min(requests, 64 + int(1.05 * requests / generator.requests_per_session))
    while True:  # as many sessions as the trace was made of
        starts = Poisson(1.0 / generator.requests_per_session).times(sessions, seed)
        traffic = generator.sessions(seed, moving, generator.shares(sessions, requests))
        order, seconds = in_time(traffic, starts, requests)
        if sessions == requests or (len(order) == requests and seconds[-1] <= starts[-1]):
            break
        sessions = min(2 * sessions, requests)
    assert overlaps(trace).tolist() == overlaps_by_sets(traffic, order.tolist())
    assert traffic.keys.max() < traffic.distinct
    assert traffic.answer_key.max() < traffic.distinct


@every_generator
def test_the_process_says_when_and_the_generator_what(name: str) -> None:
    slow, fast = (
        read_generator(name).trace(300, 1, read_process(f"gamma:rate={rate},cv=3"), Drift())
        for rate in (0.001, 0.002)
    )
    assert slow.arrival_seconds is not None
    assert fast.arrival_seconds is not None
    # rare enough that sessions do not overlap: all starts come half as late
    first = np.unique(slow.session, return_index=True)[1] if slow.session.max() >= 0 else ...
    assert np.allclose(slow.arrival_seconds[first], 2 * fast.arrival_seconds[first], rtol=0.3)


@every_generator
def test_the_name_makes_the_same_generator(name: str) -> None:
    generator = read_generator(name)
    assert read_generator(generator_name(generator)) == generator


@pytest.mark.parametrize("name", list(GENERATORS))
def test_every_knob_is_documented_and_bounded(name: str) -> None:
    generator = GENERATORS[name]
    documented = (generator.__doc__ or "").partition("Parameters\n")[2]
    for parameter in parameters_of(generator):
        assert parameter.name in documented
        for wrong in (-1, 1e12, float("nan"), float("inf"), True, "2", None):
            with pytest.raises(UsageError, match=parameter.name) as error:
                generator(**{parameter.name: wrong})
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", SESSIONS)
def test_bounds_are_within_the_law(name: str) -> None:
    generator = read_generator(name)
    for known in fields(generator):
        for bound in (known.metadata.get("low"), known.metadata.get("high")):
            if bound is None or bound > 1000:  # large ones cost time and memory, no more
                continue
            try:
                edge = replace(generator, **{known.name: bound})
            except UsageError:  # that contradicts another knob
                continue
            assert edge.trace(40, 0, Poisson(1.0), Drift()).problem() is None


@every_generator
@pytest.mark.parametrize("requests", [0, -3, 10**12])
def test_absurd_numbers_of_requests_are_refused(name: str, requests: int) -> None:
    with pytest.raises(UsageError, match="requests"):
        read_generator(name).trace(requests, 0, Poisson(1.0), Drift())


@every_generator
@pytest.mark.parametrize("kind", list(DRIFTS))
def test_a_generator_follows_the_drifts_that_it_names(name: str, kind: str) -> None:
    generator, drift = read_generator(name), read_drift(kind)
    if kind not in generator.drifts:
        with pytest.raises(UsageError, match="takes no other drift"):
            generator.trace(400, 1, Poisson(1.0), drift)
        return
    still, moved = (generator.trace(400, 1, Poisson(1.0), d) for d in (Drift(), drift))
    assert not np.array_equal(overlaps(still), overlaps(moved))
    assert np.array_equal(still.arrival_seconds, moved.arrival_seconds)


def test_the_built_in_workload_takes_no_other_drift() -> None:
    with pytest.raises(UsageError, match="has a knob 'drift'"):
        BuiltIn().trace(10, 0, Poisson(1.0), read_drift("growth"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chat", "generator 'chat': unknown name 'chat'; did you mean 'chats'?"),
        ("chats:turns=3", "unknown parameter 'turns'; did you mean 'turns_mean'?"),
        ("chats:turns_mean=0.5", "turns_mean: expected a number from 1.0 to 100.0, found 0.5"),
        ("documents:count=x", "count: expected a whole number, found 'x'"),
        ("thoughts:branching=4", "branching: expected at most samples, 3, found 4"),
        ("documents + chats", "expected a share and a name as in '0.3 agents', found 'documents'"),
        ("0.5 documents + 0 chats", "share of 'chats': expected above 0 to 1e9, found 0.0"),
        ("0.5 documents + 0.5 builtin", "'builtin' is a mixture itself"),
        ("0.5 documents + 0.5 chat", "unknown name 'chat'; did you mean 'chats'?"),
    ],
)
def test_a_wrong_name_is_one_clear_line(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_generator(name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
