from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.base.errors import UsageError
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import NO_SESSION, Trace
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.inspection.overlaps import overlaps
from workloads.opening import open_trace
from workloads.synthetic import Chats, SyntheticSpec
from workloads.synthetic import generate as built_in
from workloads.twin import TwinStats, fit, generate
from workloads.twin.fitting import MOST_BOXES, MOST_GAP_BOXES

REQUESTS = 2500


@pytest.fixture(scope="module")
def original() -> Trace:
    return built_in(SyntheticSpec(requests=REQUESTS, drift=0.3))


@pytest.fixture(scope="module")
def stats(original) -> TwinStats:
    return fit(original)


@pytest.fixture(scope="module")
def twins(stats) -> list[Trace]:
    return [generate(stats, seed) for seed in range(2)]


def columns(trace: Trace):
    tree = trace.tree
    return [
        *(tree.parent, tree.start, tree.stop),
        *(trace.leaf, trace.output_tokens, trace.session, trace.label),
        trace.arrival_seconds,
    ]


def kolmogorov(one, other) -> float:
    """Return the largest distance between two empirical distribution functions."""
    at = np.union1d(one, other)
    shares = [
        np.searchsorted(np.sort(values), at, "right") / len(values) for values in (one, other)
    ]
    return float(abs(shares[0] - shares[1]).max())


def turns(trace: Trace) -> np.ndarray:
    return np.unique(trace.session[trace.session != NO_SESSION], return_counts=True)[1]


def test_a_twin_keeps_all_rules(stats, twins):
    for twin in [*twins, generate(stats, 5, requests=700), generate(stats, 5, requests=1)]:
        assert twin.problem() is None
    children = np.bincount(twins[0].tree.parent[1:], minlength=twins[0].tree.nodes)
    ends = np.bincount(twins[0].leaf, minlength=twins[0].tree.nodes)
    assert (children[1:][ends[1:] == 0] > 1).all()


def test_one_seed_gives_one_twin_and_another_seed_another(stats, twins):
    again = generate(stats, 0)
    assert all(np.array_equal(a, b) for a, b in zip(columns(twins[0]), columns(again), strict=True))
    assert not np.array_equal(twins[0].tree.stop, twins[1].tree.stop)


def test_lengths_and_overlaps_have_the_law_of_the_original(original, twins):
    # two samples of 2,500 of one law are 0.04 apart in 4 of 100 cases; boxes add their width
    for twin in twins:
        assert kolmogorov(original.prompt_tokens, twin.prompt_tokens) < 0.08
        assert kolmogorov(overlaps(original), overlaps(twin)) < 0.1
        assert kolmogorov(original.output_tokens, twin.output_tokens) < 0.08


def test_totals_are_those_of_the_original(original, twins):
    for twin in twins:
        ratio = twin.prompt_tokens.sum() / original.prompt_tokens.sum()
        assert ratio == pytest.approx(1, abs=0.06)
        hit = overlaps(twin).sum() / twin.prompt_tokens.sum()
        expected = overlaps(original).sum() / original.prompt_tokens.sum()
        assert hit == pytest.approx(expected, abs=0.04)


def test_sessions_and_labels_are_as_common_as_in_the_original(original, twins):
    shares = np.bincount(original.label, minlength=3) / REQUESTS
    for twin in twins:
        assert twin.labels == original.labels
        twin_shares = np.bincount(twin.label, minlength=3) / REQUESTS
        assert abs(twin_shares - shares).max() < 4 * np.sqrt(0.25 / REQUESTS)
        chats = twin.label == twin.labels.index("chat")
        assert ((twin.session != NO_SESSION) == chats).mean() > 0.98
        assert len(turns(twin)) == pytest.approx(len(turns(original)), rel=0.2)
        assert turns(twin).mean() == pytest.approx(turns(original).mean(), rel=0.2)


def test_arrivals_have_the_rate_of_the_original(original, twins):
    for twin in twins:
        assert twin.arrival_seconds[0] == 0
        assert twin.arrival_seconds[-1] == pytest.approx(original.arrival_seconds[-1], rel=0.1)


def test_ticks_and_bursts_are_kept(original):
    ticked = original.with_arrivals(np.floor(original.arrival_seconds / 3) * 3)
    twin = generate(fit(ticked), 0)
    gaps = np.diff(twin.arrival_seconds)
    assert (gaps % 3 == 0).all()
    assert (gaps == 0).mean() == pytest.approx(
        (np.diff(ticked.arrival_seconds) == 0).mean(), abs=0.03
    )


def test_a_trace_without_times_has_a_twin_without_times(original):
    assert generate(fit(replace(original, arrival_seconds=None)), 0).arrival_seconds is None


def test_what_prompts_say_leaves_no_trace_in_the_statistics(original, stats):
    """Nodes in another order are other ids for the same prompts."""
    tree = original.tree
    depth = np.zeros(tree.nodes, dtype=np.int64)
    for node in range(1, tree.nodes):
        depth[node] = depth[tree.parent[node]] + 1
    order = np.lexsort((np.random.default_rng(0).random(tree.nodes), depth))
    renamed = np.empty(tree.nodes, dtype=np.int32)
    renamed[order] = np.arange(tree.nodes)
    parent = tree.parent[order]
    shuffled = PrefixTree(
        np.where(parent < 0, -1, renamed[parent]).astype(np.int32),
        tree.start[order],
        tree.stop[order],
    )
    other = replace(original, tree=shuffled, leaf=renamed[original.leaf])
    assert other.problem() is None
    assert fit(other) == stats


@pytest.mark.parametrize("requests", [100, 1000, 6000])
def test_the_statistics_are_bounded_and_no_box_is_small(requests):
    stats = fit(built_in(SyntheticSpec(requests=requests)))
    assert len(stats.boxes) <= MOST_BOXES
    assert stats.arrivals is not None
    assert len(stats.arrivals.boxes) <= MOST_GAP_BOXES
    assert min(box.rows for box in [*stats.boxes, *stats.arrivals.boxes]) >= 5


def test_known_answers_are_part_of_what_the_next_turn_meets():
    original = Chats().trace(1500, 0, Poisson(5.0), Drift())
    assert original.after is not None
    twin = generate(fit(original), 0)
    assert twin.problem() is None
    assert twin.after is not None
    assert (twin.after >= 0).mean() == pytest.approx((original.after >= 0).mean(), abs=0.05)
    hits = [overlaps(trace).sum() / trace.prompt_tokens.sum() for trace in (original, twin)]
    assert hits[1] == pytest.approx(hits[0], abs=0.04)


def test_a_rare_label_is_not_told(original):
    label = original.label.copy()
    label[[3, 800]] = len(original.labels)
    rare = replace(original, label=label, labels=(*original.labels, "a customer's name"))
    assert fit(rare).labels == (*original.labels, "other")


def test_a_short_trace_and_a_wrong_number_are_refused(stats):
    with pytest.raises(UsageError, match="100 to 1,000,000 requests, found 12"):
        fit(built_in(SyntheticSpec(requests=12)))
    with pytest.raises(UsageError, match="requests: expected 1 to 1,000,000, found 0"):
        generate(stats, 0, requests=0)
    with pytest.raises(UsageError, match="seed"):
        generate(stats, -1)


def test_a_million_requests_are_the_most(stats):
    with pytest.raises(UsageError, match="1,000,001"):
        generate(stats, 0, requests=1_000_001)


def test_the_mooncake_traces_are_met_in_length_and_overlap(shared):
    path = shared / "data" / "mooncake" / "synthetic_trace.jsonl.gz"
    original = open_trace(path)
    twin = generate(fit(original), 0)
    hit = overlaps(twin).sum() / twin.prompt_tokens.sum()
    assert hit == pytest.approx(overlaps(original).sum() / original.prompt_tokens.sum(), abs=0.03)
    assert twin.prompt_tokens.mean() == pytest.approx(original.prompt_tokens.mean(), rel=0.05)
