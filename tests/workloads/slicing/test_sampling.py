from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from tests.workloads.inspection.small_traces import trace_of
from workloads.slicing.curve_error import curve_error
from workloads.slicing.sampling import sample_requests, sample_share
from workloads.slicing.units import units_of
from workloads.synthetic import SyntheticSpec, generate


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(SyntheticSpec(seed=3, requests=4000))


def without_sessions(trace: Trace) -> Trace:
    return replace(trace, session=np.full(len(trace), -1, dtype=np.int32))


def sessions_of(trace: Trace) -> set[int]:
    return set(trace.session.tolist()) - {-1}


def permuted(trace: Trace, order: np.ndarray) -> Trace:
    """Return the requests in another order; times stay ascending."""
    columns = ("leaf", "output_tokens", "session", "label")
    other = {name: getattr(trace, name)[order] for name in columns}
    after = None if trace.after is None else trace.after[order]
    return replace(trace, **other, after=after, arrival_seconds=None)


def test_samples_lie_within_each_other(trace: Trace) -> None:
    small, large = (sample_share(trace, share).trace for share in (0.05, 0.3))
    assert 0 < len(small) < len(large) < len(trace)
    assert sessions_of(small) < sessions_of(large)
    some = sample_requests(trace, 500).trace
    more = sample_requests(trace, 900).trace
    assert sessions_of(some) < sessions_of(more)


def test_samples_of_prefixes_lie_within_each_other(trace: Trace) -> None:
    marked = replace(without_sessions(trace), output_tokens=np.arange(len(trace)))
    small, large = (
        set(sample_share(marked, share).trace.output_tokens.tolist()) for share in (0.05, 0.3)
    )
    assert small
    assert small < large < set(range(len(trace)))


def test_sessions_are_whole(trace: Trace) -> None:
    part = sample_share(trace, 0.2).trace
    chosen = list(sessions_of(part))
    assert (part.session >= 0).sum() == np.isin(trace.session, chosen).sum()


@pytest.mark.parametrize("loose", [False, True], ids=["sessions", "prefixes"])
def test_the_order_of_requests_does_not_matter(trace: Trace, loose: bool) -> None:
    timeless = replace(without_sessions(trace) if loose else trace, arrival_seconds=None)
    order = np.random.default_rng(0).permutation(len(trace))
    marked = replace(timeless, output_tokens=np.arange(len(trace), dtype=np.int64))
    one = sample_share(marked, 0.2).trace.output_tokens
    other = sample_share(permuted(marked, order), 0.2).trace.output_tokens
    assert sorted(one.tolist()) == sorted(other.tolist())


def test_names_decide_and_not_numbers(trace: Trace) -> None:
    names = {number: f"s{number}" for number in range(int(trace.session.max()) + 1)}
    shifted = replace(trace, session=np.where(trace.session >= 0, trace.session + 5, -1))
    shifted_names = {number + 5: name for number, name in names.items()}
    one, other = sample_share(trace, 0.2, 1, names), sample_share(shifted, 0.2, 1, shifted_names)
    assert sessions_of(one.trace) == {number - 5 for number in sessions_of(other.trace)}
    assert sessions_of(one.trace) != sessions_of(sample_share(trace, 0.2, 1).trace)


def test_the_share_is_right_in_the_mean_over_seeds(trace: Trace) -> None:
    share, seeds = 0.1, 60
    whole = len(units_of(trace))
    taken = sum(sample_share(trace, share, seed).taken for seed in range(seeds))
    expected, spread = share * whole * seeds, (share * (1 - share) * whole * seeds) ** 0.5
    assert abs(taken - expected) < 4 * spread


def test_a_number_of_requests_is_not_exceeded(trace: Trace) -> None:
    sample = sample_requests(trace, 700)
    assert len(sample.trace) <= 700
    again = sample_share(trace, sample.share)
    assert sessions_of(sample.trace) == sessions_of(again.trace)
    assert len(sample_requests(trace, len(trace)).trace) == len(trace)


def test_prompts_without_sessions_stay_with_those_that_begin_alike() -> None:
    documents = [[at, at, at, question] for at in range(200) for question in range(4)]
    sample = sample_share(trace_of(documents), 0.3).trace
    assert 0 < len(sample) < 800
    assert len(sample) % 4 == 0


def test_a_system_prompt_of_all_does_not_make_them_one() -> None:
    documents = [[9, 9, at, at, question] for at in range(200) for question in range(4)]
    sample = sample_share(trace_of(documents), 0.3)
    assert sample.units == 200
    assert len(sample.trace) == 4 * sample.taken
    assert 30 <= sample.taken <= 90


def test_a_share_without_a_session_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing is in a sample of"):
        sample_share(trace_of([[1], [2]], session=[0, 1]), 1e-9)
    with pytest.raises(UsageError, match="the first session or prefix holds 3"):
        sample_requests(trace_of([[1], [2], [3]], session=[1, 1, 1]), 2)


def test_the_whole_has_no_error(trace: Trace) -> None:
    error = curve_error(trace, sample_share(trace, 1.0).trace, 1.0)
    assert error.plain.most_points == error.corrected.most_points == 0
    assert error.whole == error.sample == error.adjusted


def test_the_error_is_small_where_sessions_are_many_and_alike() -> None:
    rng = np.random.default_rng(1)
    rows = [(at, turn) for at in range(2000) for turn in range(3)]
    places = np.argsort([at + 300 * turn + rng.random() for at, turn in rows], kind="stable")
    prompts = [[rows[at][0]] * (20 * (rows[at][1] + 1)) for at in places]
    trace = trace_of(prompts, session=[rows[at][0] + 1 for at in places])
    error = curve_error(trace, sample_share(trace, 0.2, seed=2).trace, 0.2)
    assert max(error.whole) > 0.4
    assert error.plain.mean_points < 2
    assert error.plain.mean_points <= error.plain.most_points


def test_the_curves_are_those_of_caches_scaled_by_the_share() -> None:
    # 1 2 1 2 in the whole: 10 tokens each, found in a cache of 20; one of the two in the sample
    trace = trace_of([[1] * 10, [2] * 10, [1] * 10, [2] * 10], session=[1, 2, 1, 2])
    part = trace_of([[1] * 10, [1] * 10], session=[1, 1])
    error = curve_error(trace, part, 0.5)
    assert max(error.whole) == max(error.sample) == max(error.adjusted) == 18 / 40
    # a whole of 10 tokens finds nothing; the sample, in 5, finds 5 of its 20
    assert (error.plain.most_points, error.plain.most_at_tokens) == (25, 10)
