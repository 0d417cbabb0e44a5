"""The true law of overlaps: by hand, by brute force, and against generated traces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.base.errors import UsageError
from tests.workloads.laws import assert_counts, assert_mean, assert_share
from workloads.arrivals import Poisson
from workloads.drift import Drift, read_drift
from workloads.inspection import overlaps
from workloads.synthetic import Chats, Documents, SystemPrompts, Thoughts, read_generator
from workloads.synthetic.truth import overlap_law, repeat_law, total_variation

PLAIN = Documents(count=2, zipf_exponent=0, template_tokens=0, openings=0, instruction_tokens=5)
RICH = Documents(count=6, template_tokens=7, openings=3, tokens_median=500)


def test_two_documents_by_hand():
    lengths = PLAIN.catalogue(3, Drift()).tokens[:, 0] + 5
    law = overlap_law(PLAIN, 4, 100, 3, Drift())
    # the document was not among four others, each of which is it with probability 1/2
    assert law.misses == pytest.approx(1 / 16)
    assert law.depths.tolist() == sorted(lengths.tolist())
    assert law.weights == pytest.approx([15 / 32, 15 / 32])


def test_the_first_request_misses():
    law = overlap_law(RICH, 0, 100, 3, Drift())
    assert (law.misses, len(law.depths)) == (1.0, 0)


def test_a_template_and_openings_by_hand():
    one = Documents(count=1, template_tokens=10, openings=2, instruction_tokens=3)
    length = int(one.catalogue(0, Drift()).tokens[0, 0])
    law = overlap_law(one, 3, 100, 0, Drift())
    assert law.depths.tolist() == [length + 13, length + 14, length + 15]
    # an opening is new with probability 1/8: then the overlap ends where it begins
    assert law.weights == pytest.approx([1 / 8, 7 / 16, 7 / 16])
    assert repeat_law(one, 0.5, 0, Drift()).weights == pytest.approx([0.5, 0.5])


def test_a_sudden_rewrite_by_hand():
    one = Documents(count=1, template_tokens=0, openings=0, instruction_tokens=3)
    drift = read_drift("rewrites:times=1,moved=8")
    length = int(one.catalogue(0, drift).tokens[0, 0])
    depths = [overlap_law(one, n, 10, 0, drift).depths.tolist() for n in range(1, 8)]
    # versions change with the sixth of ten requests, which still knows the document
    assert depths == [[length + 3]] * 4 + [[length]] + [[length + 11]] * 2


def test_growth_by_hand():
    one = Documents(count=1, template_tokens=0, openings=0, instruction_tokens=3, tokens_sigma=0)
    drift = read_drift("growth:factor=4,steps=2")
    depths = [overlap_law(one, n, 6, 0, drift).depths.tolist() for n in range(1, 6)]
    # 8,000 tokens, then twice as many, then four times: first seen by what was there before
    assert depths == [[8003], [8000], [16003], [16000], [32003]]


MIXED = "0.6 documents:count=4,template_tokens=9,openings=2 + 0.4 system_prompts:count=5,families=2"


@pytest.mark.parametrize(
    ("name", "drift"),
    [
        ("documents:count=6,openings=3", ""),
        ("documents:count=6,openings=3", "shift:distance=0.3"),
        ("documents:count=6,openings=3", "shift:distance=0.3,at=0.5"),
        ("documents:count=6,openings=0", "cycles:weeks=3,distance=0.3"),
        ("documents:count=6,openings=2", "births:times=3"),
        ("system_prompts:count=6,families=2", "rewrites:times=3"),
        ("system_prompts:count=6,families=3,openings=2", "growth:factor=3,steps=2"),
        ("chats:count=5", "births:times=2 + growth:steps=1 + rewrites:times=1 + shift:distance=.2"),
        (MIXED, "births:times=2 + shift:distance=0.1"),
    ],
)
def test_the_law_is_that_of_many_histories(name, drift):
    generator, moving = read_generator(name), read_drift(drift)
    number, requests, histories, seed = 40, 60, 4000, 9
    if generator.requests_per_session > 1:
        requests = int(requests * generator.requests_per_session)
    x = generator.shares(number + 1, requests)
    catalogues = generator.catalogues(seed, moving)
    random = np.random.default_rng(1)
    shares = [share for share, _ in catalogues]
    kind = random.choice(len(catalogues), (histories, number + 1), p=shares)
    deepest = np.zeros(histories, dtype=np.int64)
    for at, (_, catalogue) in enumerate(catalogues):
        every = np.tile(x, histories)
        keys, stops = (
            column.reshape(histories, number + 1, -1)
            for column in catalogue.paths(*catalogue.draw(random, every), every)
        )
        stops = stops * (kind == at)[:, :, None]
        same = (keys[:, :-1] == keys[:, -1:]) & (stops[:, :-1] > 0)
        deepest += (same.any(axis=1) * stops[:, -1]).max(axis=1)
    law = overlap_law(generator, number, requests, seed, moving)
    assert law.misses + law.weights.sum() == pytest.approx(1.0)
    depths = np.concatenate([[0], law.depths])
    expected = histories * np.concatenate([[law.misses], law.weights])
    assert set(deepest.tolist()) <= set(depths.tolist())
    assert_counts([np.count_nonzero(deepest == depth) for depth in depths], expected)


@given(
    count=st.integers(1, 9),
    openings=st.integers(0, 3),
    template=st.integers(0, 5),
    number=st.integers(0, 30),
    drift=st.sampled_from(
        ["", "births:times=4", "rewrites:times=3", "growth:factor=1.01", "cycles:distance=0"]
    ),
)
@settings(max_examples=40)
def test_a_law_is_a_law(count, openings, template, number, drift):
    generator = Documents(
        count=count, openings=openings, template_tokens=template, tokens_median=64
    )
    moving = read_drift(drift)
    law = overlap_law(generator, number, 31, 7, moving)
    assert law.misses + law.weights.sum() == pytest.approx(1.0)
    assert (law.weights > 0).all()
    assert (np.diff(law.depths) > 0).all()
    later = overlap_law(generator, number + 1, 10**6, 7, Drift())
    # without drift overlaps only become longer
    assert later.misses <= overlap_law(generator, number, 10**6, 7, Drift()).misses + 1e-12
    settled = repeat_law(generator, 0.5, 7, moving)
    assert settled.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("generator", [Documents(count=40), SystemPrompts(count=30)])
def test_the_hit_rate_of_a_trace_is_that_of_its_law(generator):
    trace = generator.trace(6000, 3, Poisson(1.0), Drift())
    overlap = overlaps(trace)[5000:]
    law = overlap_law(generator, 5500, 6000, 3, Drift())
    assert_mean(overlap, float(law.depths @ law.weights))
    counts = [np.count_nonzero(overlap == depth) for depth in law.depths]
    assert_counts(counts, 1000 * law.weights)


def test_misses_of_a_young_trace_are_those_of_the_law():
    generator = Documents(count=150, zipf_exponent=0.5, template_tokens=0, openings=0)
    expected = sum(overlap_law(generator, n, 100, 0, Drift()).misses for n in range(100))
    missed = [
        np.count_nonzero(overlaps(generator.trace(100, seed, Poisson(1.0), Drift())) == 0)
        for seed in range(60)
    ]
    assert_mean(missed, expected)


def test_the_law_settles_on_that_of_repeats():
    law = overlap_law(RICH, 3000, 4000, 2, Drift())
    assert total_variation(law, repeat_law(RICH, 0.75, 2, Drift())) < 1e-6


@pytest.mark.parametrize("distance", [0.0, 0.1, 0.35])
def test_a_shift_moves_the_law_by_its_knob(distance):
    generator = Documents(count=12)
    sudden = read_drift(f"shift:distance={distance},at=0.5")
    before, after = (repeat_law(generator, x, 1, sudden) for x in (0.49, 0.51))
    assert total_variation(before, after) == pytest.approx(distance)
    gradual = read_drift(f"shift:distance={distance}")
    first = repeat_law(generator, 0.0, 1, gradual)
    for x in (0.25, 0.5, 1.0):
        law = repeat_law(generator, x, 1, gradual)
        assert total_variation(first, law) == pytest.approx(distance * x)


def test_cycles_come_back():
    cycles = read_drift("cycles:weeks=2,distance=0.3")
    generator = SystemPrompts(count=12)
    monday, friday, sunday, again = (
        repeat_law(generator, x, 1, cycles) for x in (0.01, 0.35, 0.45, 0.55)
    )
    assert total_variation(monday, friday) == 0
    assert total_variation(monday, sunday) == pytest.approx(0.3)
    assert total_variation(monday, again) == 0


def test_births_move_as_much_of_the_law_as_they_replace():
    generator = Documents(count=20, zipf_exponent=0, openings=0)
    drift = read_drift("births:times=0.5")
    replaced = np.count_nonzero(generator.catalogue(1, drift).phase >= 0.5)
    moved = total_variation(repeat_law(generator, 0, 1, drift), repeat_law(generator, 1, 1, drift))
    assert moved == pytest.approx(replaced / 20)
    many = Documents(count=5000).catalogue(1, drift).phase >= 0.5
    assert_share(int(many.sum()), 5000, 0.5)


def test_rewrites_and_growth_move_all_of_it():
    for text in ("rewrites:times=1,moved=100", "growth:factor=2,steps=1"):
        drift = read_drift(text)
        generator = Documents(count=3, tokens_sigma=0.01)
        before, after = (repeat_law(generator, x, 1, drift) for x in (0.4, 0.6))
        assert total_variation(before, after) == pytest.approx(1.0)
    moved = after.depths.mean() - before.depths.mean()
    assert moved == pytest.approx(8000, rel=0.05)


def test_a_shift_beyond_what_the_mix_allows_is_refused():
    with pytest.raises(UsageError, match=r"'documents': drift 'shift:distance=0.9': distance: ex"):
        Documents().trace(10, 0, Poisson(1.0), read_drift("shift:distance=0.9"))
    with pytest.raises(UsageError, match="expected at most 0, by which"):
        Thoughts(zipf_exponent=0).trace(10, 0, Poisson(1.0), read_drift("shift:distance=0.1"))


def test_total_variation_counts_misses():
    one = overlap_law(PLAIN, 0, 10, 3, Drift())
    later = overlap_law(PLAIN, 1, 10, 3, Drift())
    assert total_variation(one, later) == pytest.approx(0.5)
    assert total_variation(one, one) == 0


def test_starts_of_chats_follow_the_law():
    chats = Chats(count=6, turns_mean=2.0)
    traffic = chats.sessions(5, Drift(), chats.shares(300, 600))
    starts = traffic.keys[np.unique(traffic.session, return_index=True)[1], :-1]
    ends = np.sort(chats.catalogue(5, Drift()).tokens[:, 0] + 1)
    law = repeat_law(chats, 0.5, 5, Drift())
    assert law.depths.tolist() == ends.tolist()
    assert math.isclose(law.weights.sum(), 1.0)
    assert len(starts) == 300
