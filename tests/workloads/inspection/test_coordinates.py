from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.inspection.small_traces import requests, trace_of
from workloads.inspection.coordinates import coordinates, sharpness
from workloads.inspection.overlaps import branch_points, overlaps
from workloads.opening import open_trace

hits = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 30), st.integers(0, 40)).map(
        lambda three: (three[0], three[0] + three[1], min(three[2], three[0]))
    ),
    min_size=1,
    max_size=30,
)


@given(requests)
def test_a_branch_point_is_where_two_earlier_ways_part(rows):
    prompts, answers, _ = zip(*rows, strict=True)
    trace = trace_of(prompts, answers)
    points, overlap = branch_points(trace), overlaps(trace)
    before: set[tuple[int, ...]] = set()
    for at, (prompt, answer, _) in enumerate(rows):
        ways = Counter(prefix[:-1] for prefix in before)
        known = [stop for stop in range(1, overlap[at] + 1) if ways[tuple(prompt[:stop])] > 1]
        assert points[at] == max(known, default=0)
        whole = (*prompt, *answer)
        before |= {whole[:stop] for stop in range(1, len(whole) + 1)}


def saved_by_one(hits, coordinate, place):
    """What one checkpoint at a place saves, by hand."""
    total = 0
    for overlap, length, branch in hits:
        at = {"start": place, "end": length - place, "branch": branch + place}[coordinate]
        total += at if 0 < at <= overlap else 0
    return total


@given(hits, st.sampled_from([1, 4, 16]))
def test_figures_are_those_of_a_search(hits, window):
    columns = (np.array(column) for column in zip(*hits, strict=True))
    laws = coordinates(*columns, window)
    total = sum(overlap for overlap, _, _ in hits)
    values = {
        "start": [overlap for overlap, _, _ in hits],
        "end": [length - overlap for overlap, length, _ in hits],
        "branch": [overlap - branch for overlap, _, branch in hits],
    }
    for name, places in values.items():
        law = getattr(laws, name)
        best = max(saved_by_one(hits, name, place) for place in range(72))
        assert law.one_checkpoint_share == pytest.approx(best / total)
        assert saved_by_one(hits, name, law.one_checkpoint_tokens) == best

        def held(width, places=places):
            return [sum(at <= other < at + width for other in places) for at in places]

        assert law.share_in_best_window == max(held(window)) / len(hits)
        first = law.best_window_tokens
        assert sum(first <= at < first + window for at in places) == max(held(window))
        for width, share in zip(laws.widths_tokens, law.concentration, strict=True):
            assert share == max(held(width)) / len(hits)
        cells = Counter(at // window for at in places).values()
        entropy = -sum(count / len(hits) * math.log2(count / len(hits)) for count in cells)
        assert law.entropy_bits == pytest.approx(entropy, abs=1e-9)
    widest = max(getattr(laws, name).share_in_best_window for name in values)
    assert getattr(laws, laws.sharpest).share_in_best_window == widest


def test_labels_are_looked_at_on_their_own():
    # label 0 leaves 2 tokens before its end, label 1 always behind its first 20 tokens
    prompts = []
    for at in range(12):
        prompts.append([0] * (30 + 20 * at) + [2 + at, 1])
        prompts.append([1] * 20 + [2 + at] * (10 + 20 * at))
    trace = replace(
        trace_of(prompts), label=np.tile(np.array([0, 1], dtype=np.int32), 12), labels=("a", "b")
    )
    laws = sharpness(trace, overlaps(trace))
    assert laws.by_label["a"].sharpest == "end"
    assert laws.by_label["b"].sharpest == "start"
    assert laws.by_label["b"].start.share_in_best_window == 1.0
    assert laws.all.hits == laws.by_label["a"].hits + laws.by_label["b"].hits == 22


def test_no_overlap_has_no_coordinates():
    trace = trace_of([[1], [2]])
    assert sharpness(trace, overlaps(trace)).all is None


@pytest.mark.parametrize(
    ("name", "saves_most", "share"),
    [
        ("system_prompts/system_prompts", "branch", 0.96),
        ("leval_docqa/leval_quality", "end", 0.98),
        ("tau_airline/tau_airline_gpt4o", "branch", 0.92),
    ],
)
def test_in_real_traces_the_start_is_never_the_place_to_count_from(shared, name, saves_most, share):
    trace = open_trace(shared / "data" / f"{name}.jsonl.gz", block=16)
    law = sharpness(trace, overlaps(trace)).all
    saved = {name: getattr(law, name).one_checkpoint_share for name in ("start", "end", "branch")}
    assert max(saved, key=saved.__getitem__) == saves_most
    assert saved[saves_most] > share > saved["start"]
    assert law.sharpest != "start"
