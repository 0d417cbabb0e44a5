from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from simulator.base.errors import UsageError
from tests.workloads.inspection.small_traces import requests, trace_of
from tests.workloads.slicing.shapes import shape
from workloads.inspection.overlaps import overlaps
from workloads.slicing.keeping import kept
from workloads.slicing.merging import merged


@given(requests, requests)
def test_each_trace_can_be_taken_out_again(one: list, other: list) -> None:
    traces = []
    for name, rows in (("a", one), ("b", other)):
        prompts, answers, sessions = (list(column) for column in zip(*rows, strict=True))
        times = np.arange(len(rows)) * 1.5
        made = trace_of(prompts, answers, times=times, session=sessions)
        traces.append(replace(made, name=name))
    whole = merged(traces)
    assert whole.problem() is None
    assert whole.tree.nodes == sum(trace.tree.nodes - 1 for trace in traces) + 1
    for at, trace in enumerate(traces):
        own = kept(whole, np.flatnonzero(whole.label == at))
        assert shape(own) == shape(trace)
        assert own.arrival_seconds is not None
        assert trace.arrival_seconds is not None
        assert own.arrival_seconds.tolist() == trace.arrival_seconds.tolist()
        assert _partition(own.session) == _partition(trace.session)
    assert not set(whole.session[whole.label == 0]) & set(whole.session[whole.label == 1]) - {-1}


def _partition(session: np.ndarray) -> list[list[int]]:
    return sorted(np.flatnonzero(session == each).tolist() for each in np.unique(session))


def test_offsets_interleave_and_the_whole_begins_at_0() -> None:
    one = replace(trace_of([[1], [1, 2]], times=[0, 10], outputs=[1, 2]), name="one")
    other = replace(trace_of([[1], [1, 2]], times=[0, 1], outputs=[3, 4]), name="two")
    whole = merged([one, other], [5, 12])
    assert whole.arrival_seconds is not None
    assert whole.arrival_seconds.tolist() == [0, 7, 8, 10]
    assert whole.output_tokens.tolist() == [1, 3, 4, 2]
    assert whole.name == "one + two"


def test_names_and_labels_are_told_apart() -> None:
    one = replace(trace_of([[1]]), name="t", labels=("x",), label=np.array([0], np.int32))
    whole = merged([one, trace_of([[1]]), one])
    assert whole.labels == ("t/x", "small", "t-2/x")
    assert whole.label.tolist() == [0, 1, 2]


def test_without_times_requests_are_interleaved_evenly() -> None:
    one = trace_of([[1]] * 4, outputs=[1, 1, 1, 1])
    other = trace_of([[1]] * 2, outputs=[2, 2])
    whole = merged([one, other])
    assert whole.arrival_seconds is None
    assert whole.output_tokens.tolist() == [1, 2, 1, 1, 2, 1]
    assert "interleaved evenly" in whole.notes[1]


def test_answers_known_in_one_only_are_said() -> None:
    one = replace(trace_of([[1]], [[2]]), name="one")
    whole = merged([one, trace_of([[1]])])
    assert whole.after is not None
    assert sorted((whole.after >= 0).tolist()) == [False, True]
    assert any("known in one only" in note for note in whole.notes)


def test_what_cannot_be_laid_side_by_side_is_refused() -> None:
    timed, timeless = trace_of([[1]], times=[0]), trace_of([[1]])
    with pytest.raises(UsageError, match="tells times and"):
        merged([timed, timeless])
    with pytest.raises(UsageError, match="16 tokens, which are no whole blocks of 'small'"):
        merged([replace(timed, granularity=7), replace(timed, granularity=16)])


def test_overlaps_are_told_to_the_largest_blocks_of_any() -> None:
    fine = trace_of([[1, 2, 3, 4], [1, 2, 3, 5]], times=[0, 1])
    blocks = replace(trace_of([[1] * 6, [1] * 4 + [2]], times=[0.5, 1.5]), granularity=2)
    whole = merged([fine, blocks])
    assert (whole.granularity, whole.problem()) == (2, None)
    assert overlaps(whole).tolist() == [0, 0, 2, 4]
    assert "25.0 % are seen before instead of 37.5 %" in whole.notes[1]  # 2 and 3 of 8 tokens
