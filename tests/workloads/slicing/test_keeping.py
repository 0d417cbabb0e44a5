from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.inspection.small_traces import requests, trace_of
from tests.workloads.slicing.shapes import shape
from workloads.slicing.keeping import kept


@given(requests, st.data())
def test_what_is_left_is_the_trace_of_these_prompts_alone(rows: list, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1).map(sorted))
    prompts, answers, sessions = (list(column) for column in zip(*rows, strict=True))
    part = kept(trace_of(prompts, answers, session=sessions), np.array(chosen))
    alone = trace_of([prompts[at] for at in chosen], [answers[at] for at in chosen])
    assert part.problem() is None
    assert shape(part) == shape(alone)
    assert (part.after is None) == (alone.after is None or not (alone.after >= 0).any())
    assert part.session.tolist() == [sessions[at] for at in chosen]


def test_columns_labels_and_times_of_those_that_are_kept() -> None:
    trace = trace_of(
        [[1], [2], [1, 3], [4]], times=[0.0, 600.1, 600.4, 700.0], outputs=[1, 2, 3, 4]
    )
    trace = replace(
        trace, labels=("a", "b", "c"), label=np.array([0, 2, -1, 1], np.int32), granularity=7
    )
    part = kept(trace, np.array([1, 2]), "a note")
    assert part.arrival_seconds is not None
    assert part.arrival_seconds.tolist() == [0.0, 0.3]  # not 0.2999999999999545
    assert part.output_tokens.tolist() == [2, 3]
    assert [part.labels[at] if at >= 0 else None for at in part.label.tolist()] == ["c", None]
    assert part.labels == ("c",)
    assert (part.granularity, part.notes) == (7, ("a note",))


def test_all_of_a_trace_is_the_trace() -> None:
    trace = trace_of([[1, 2], [1, 3], [1, 2, 4]], [[5], [], [6]])
    part = kept(trace, np.arange(3))
    assert shape(part) == shape(trace)
