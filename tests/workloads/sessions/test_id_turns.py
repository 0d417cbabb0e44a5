"""Sessions of Mooncake rows: turns that come after an answer, whole contexts or what is new."""

from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.validation import validate


def row(session, length, output, ids, **others):
    named = {"session_id": session, "input_length": length, "output_length": output}
    return named | {"hash_ids": ids} | others


FIRST = list(range(1, 9))
NEW = [
    row("a", 4096, 512, FIRST, timestamp=0),
    row("a", 1024, 16, [9, 10], delay=2000),
    row("b", 4096, 512, FIRST, timestamp=500),
    row("b", 1024, 16, [11, 12], delay=2000),
]
WHOLE = [
    row("a", 1024, 512, [1, 2], timestamp=0),
    row("a", 2048, 16, [1, 2, 3, 4], delay=2000),
    row("b", 1024, 512, [5, 6], timestamp=500),
    row("b", 2048, 16, [5, 6, 7, 8], delay=2000),
]


@pytest.fixture
def write(tmp_path):
    def write(rows):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    return write


def untimed(rows):
    return [{key: value for key, value in r.items() if key != "timestamp"} for r in rows]


@pytest.mark.parametrize("rows", [NEW, untimed(NEW)])
def test_rows_of_what_is_new_are_whole_prompts(write, rows):
    trace = open_trace(write(rows))
    assert trace.problem() is None
    assert sorted(trace.prompt_tokens.tolist()) == [4096, 4096, 5632, 5632]
    assert trace.prompt_tokens.sum() == 19_456
    assert overlaps(trace).tolist() == [0, 4096, 4608, 4608]
    assert trace.session.tolist() == [0, 1, 0, 1]


def test_later_turns_come_their_delay_after_the_answer(write):
    answer = 512 * 0.02
    trace = open_trace(write(NEW))
    assert trace.arrival_seconds.tolist() == [0, 0.5, answer + 2, answer + 2.5]
    assert not [note for note in trace.notes if "sorted" in note]
    assert "unsorted" not in {a.what for a in validate(write(NEW))}


def test_without_times_sessions_start_together_or_at_a_rate(write):
    path = write(untimed(NEW))
    trace = open_trace(path)
    assert trace.arrival_seconds.tolist() == [0, 0, 512 * 0.02 + 2, 512 * 0.02 + 2]
    assert "--session-rate" in " ".join(trace.notes)
    spread = open_trace(path, session_rate=0.5, seed=3)
    assert spread.arrival_seconds[-1] > trace.arrival_seconds[-1]
    with pytest.raises(UsageError, match="session_rate"):
        open_trace(write(NEW), session_rate=0.5)


def test_without_times_and_delays_there_are_no_times(write):
    rows = [{k: v for k, v in r.items() if k != "delay"} for r in untimed(NEW)]
    path = write(rows)
    assert open_trace(path).arrival_seconds is None
    assert open_trace(path).prompt_tokens.sum() == 10_240  # nothing says what rows are
    assert "--rows" in {a.what: a.detail for a in validate(path)}["shrinking-turn"]
    assert open_trace(path, rows="incremental").prompt_tokens.sum() == 19_456


def test_the_evidence_is_told(write):
    anomalies = {a.what: (a.count, a.first_line) for a in validate(write(NEW))}
    assert anomalies == {"closed-loop": (2, 2), "incremental-rows": (2, 2)}
    assert validate(write(NEW))[1].detail.endswith("(--rows cumulative: as whole prompts)")


def test_whole_contexts_with_delays_stay_whole(write):
    trace = open_trace(write(WHOLE))
    assert trace.prompt_tokens.tolist() == [1024, 1024, 2048, 2048]
    assert overlaps(trace).tolist() == [0, 0, 1024, 1024]
    assert {a.what for a in validate(write(WHOLE))} == {"closed-loop"}


def test_short_contexts_that_grow_by_their_answers_are_whole(write):
    rows = [row("a", 100, 50, [1], timestamp=0), row("a", 170, 9, [2], delay=1)]
    assert open_trace(write(rows)).prompt_tokens.tolist() == [100, 170]
    rows[1] |= {"input_length": 140}
    assert open_trace(write(rows)).prompt_tokens.tolist() == [100, 290]


def test_rows_that_all_have_times_are_whole_unless_told(write):
    rows = [row("a", 1024, 10, [1, 2], timestamp=0), row("a", 600, 9, [3, 4], timestamp=1)]
    path = write(rows)
    assert open_trace(path).prompt_tokens.tolist() == [1024, 600]
    shrinking = next(a for a in validate(path) if a.what == "shrinking-turn")
    assert "--rows" in shrinking.detail
    assert open_trace(path, rows="incremental").prompt_tokens.tolist() == [1024, 1634]


def test_options_and_rows_say_what_they_are(write):
    assert open_trace(write(NEW), rows="cumulative").prompt_tokens.sum() == 10_240
    grown = open_trace(write(WHOLE), rows="incremental")
    assert grown.prompt_tokens.sum() == 2 * (1024 + 1024 + 512 + 2048)
    assert "growing-turn" in " ".join(grown.notes)
    marked = [r | {"context_mode": "message_array_with_responses"} for r in NEW]
    assert open_trace(write(marked)).prompt_tokens.sum() == 10_240
    marked = [r | {"context_mode": "deltas_without_responses"} for r in WHOLE]
    assert open_trace(write(marked)).prompt_tokens.sum() == 2 * (1024 + 1024 + 512 + 2048)


def test_the_small_case_of_a_replay_with_deltas(write):
    rows = [row("s0", 4, 2, [1], timestamp=0), row("s0", 2, 1, [2], delay=5)]
    trace = open_trace(write(rows), block=4)
    assert trace.prompt_tokens.tolist() == [4, 8]
    assert trace.arrival_seconds.tolist() == [0, 0.045]


def test_a_row_without_a_time_and_a_turn_before_is_a_bad_line(write):
    rows = [*NEW, row("c", 512, 1, [20], delay=10)]
    with pytest.raises(DataError, match=r":5: field 'timestamp': expected a time on every line"):
        open_trace(write(rows))
    assert len(open_trace(write(rows), on_bad_line="skip")) == 4


def test_rows_without_ids_at_the_end_match_nothing(write):
    rows = [*NEW[:3], row("b", 1024, 16, [11], delay=1)]
    trace = open_trace(write(rows))
    assert "1 rows have a tail without an id, which matches nothing" in trace.notes


def test_later_turns_need_no_ids(write):
    rows = [{k: v for k, v in r.items() if k != "hash_ids" or "delay" not in r} for r in NEW]
    trace = open_trace(write(rows))
    assert trace.prompt_tokens.sum() == 19_456
    assert overlaps(trace).tolist() == [0, 4096, 4608, 4608]
    assert {a.what: a.count for a in validate(write(rows))}["no-ids"] == 2
    alone = [{k: v for k, v in r.items() if k != "session_id"} for r in rows]
    with pytest.raises(DataError, match="field 'hash_ids': expected this field"):
        open_trace(write(alone))
