"""The shortlist finds what scoring all candidates finds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import policies.orders.shortlist as shortlist_module
from policies.orders.candidates import Candidates
from policies.orders.shortlist import KnownState
from simulator.plugins.entries import Checkpoint, KvSpan

ROOT = KvSpan(None, -1, 0)


def even(last, now):
    del now
    return last


def fading(last, now):
    return 1.0 / (1.0 + now - last)


def brute_force(nodes, recency, now, weights):
    """Return the score, the age and the node of all that are not set aside, by score and age."""
    kept = [node for node in nodes if node.counts]
    columns = [np.array([recency(node.last, now) for node in kept], dtype=float)]
    columns.append(np.array([node.worth for node in kept], dtype=float))
    spans = [np.ptp(column) if kept else 0.0 for column in columns]
    scales = [weight / span if span else 0.0 for weight, span in zip(weights, spans, strict=True)]
    scores = columns[1] * scales[1] + columns[0] * scales[0]
    scored = [(score, node.age, node) for score, node in zip(scores, kept, strict=True)]
    return sorted(place for place in scored if place[2].place >= 0)


@pytest.mark.parametrize("recency", [even, fading])
@pytest.mark.parametrize("weights", [(0.85, 1.0), (1.0, 0.25), (1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("worths", [4, 10**6])  # many equal, hardly any
def test_the_least_is_that_of_all(recency, weights, worths):
    rng = np.random.default_rng([worths, len(weights)])
    candidates, nodes = Candidates(recency), []
    for now in range(150):
        for _ in range(rng.integers(1, 6)):
            node = KnownState(Checkpoint(ROOT, len(nodes) + 1, 10), now, len(nodes))
            candidates.price(node, float(rng.integers(worths)))
            candidates.open(node)
            nodes.append(node)
        for node in rng.choice(nodes, 4):
            if rng.random() < 0.5:
                candidates.use(node, now)
            if rng.random() < 0.5:
                candidates.price(node, float(rng.integers(worths)))
            (candidates.open if rng.random() < 0.5 else candidates.close)(node)
        for _ in range(rng.integers(0, 5 if now < 100 else 8)):
            least = candidates.least(now, *weights)
            scored = brute_force(nodes, recency, now, weights)
            if least is None:
                assert not scored
                break
            assert least is scored[0][2]
            (candidates.close if rng.random() < 0.9 else candidates.set_aside)(least)
        scored = brute_force(nodes, recency, now, weights)
        assert list(candidates.by_score(now, *weights)) == scored
        for score, _, node in scored[:3]:
            assert candidates.score_of(node, now, *weights) == score


@pytest.mark.parametrize("recency", [even, fading])
@pytest.mark.parametrize("weights", [(0.85, 1.0), (1.0, 0.0)])
def test_what_a_use_moves_beyond_a_short_list_hides_nothing(recency, weights, monkeypatch):
    monkeypatch.setattr(shortlist_module, "_LENGTH", 4)
    rng = np.random.default_rng(5)
    candidates, nodes = Candidates(recency), []
    for now in range(400):
        for _ in range(3):
            node = KnownState(Checkpoint(ROOT, len(nodes) + 1, 10), now, len(nodes))
            candidates.price(node, float(rng.integers(3)))
            candidates.open(node)
            nodes.append(node)
        for _ in range(2):
            least = candidates.least(now, *weights)
            assert least is brute_force(nodes, recency, now, weights)[0][2]
            (candidates.close if rng.random() < 0.6 else partial(candidates.use, now=now))(least)


@pytest.mark.parametrize("tied", [30, 100])
def test_of_many_that_are_tied_it_is_the_eldest(tied):
    candidates = Candidates(even)
    nodes = [KnownState(Checkpoint(ROOT, place + 1, 10), 5, tied - place) for place in range(tied)]
    late = KnownState(Checkpoint(ROOT, tied + 1, 10), 6, 0)
    for node in (*nodes, late):
        candidates.open(node)
    for _ in range(20):
        least = candidates.least(6, 1.0, 1.0)
        assert least is nodes.pop()
        candidates.close(least)


def test_without_candidates_there_is_none():
    assert Candidates(even).least(0, 1.0, 1.0) is None
