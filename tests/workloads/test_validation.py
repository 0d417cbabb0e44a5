from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.opening import open_trace
from workloads.store import save
from workloads.validation import validate


def anomalies_in(tmp_path, rows, **arguments):
    path = tmp_path / "t.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines))
    return {
        anomaly.what: (anomaly.count, anomaly.first_line)
        for anomaly in validate(path, block=16, **arguments)
    }


def row(time, ids, length=None, output=1):
    length = 16 * len(ids) if length is None else length
    return {"timestamp": time, "input_length": length, "output_length": output, "hash_ids": ids}


def test_a_clean_file_has_no_anomaly(tmp_path):
    assert anomalies_in(tmp_path, [row(0, [0, 1]), row(100, [0, 2]), row(200, [3])]) == {}


def test_every_anomaly_is_counted_and_its_first_line_named(tmp_path):
    rows = [
        row(5000, [0, 1]),
        "",
        "broken",
        row(4000, [0, 2], output=0),
        row(4000, [0, 2], output=0),
        row(6000, [0, 1, 5], length=60),
        row(7000, [0, 1], length=60),
        row(8000, [9, 9, 9, 9]),
        "{}",
        row(9000, []) | {"input_length": 40},
    ]
    assert anomalies_in(tmp_path, rows) == {
        "bad-line": (2, 3),
        "unsorted": (1, 4),
        "equal-times": (1, 5),
        "zero-output": (2, 4),
        "duplicate": (1, 5),
        "no-id-for-partial-block": (1, 6),
        "too-few-ids": (2, 7),
        "content-ids": (1, 8),
    }


def test_missing_times_are_told(tmp_path):
    plain = {"input_length": 16, "output_length": 1, "hash_ids": [1]}
    assert anomalies_in(tmp_path, [plain]) == {"no-times": (1, 1)}


@pytest.mark.parametrize("step_ms", [1e9, 1e-4])
def test_times_in_another_unit_are_a_warning(tmp_path, step_ms):
    rows = [row(step_ms * at, [at]) for at in range(50)]
    assert anomalies_in(tmp_path, rows) == {"implausible-times": (50, 1)}


def test_a_file_of_bad_lines_is_counted_whole(tmp_path):
    assert anomalies_in(tmp_path, ["x", "y", "z"], format="mooncake") == {"bad-line": (3, 1)}


def test_only_bad_lines_are_errors(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(row(0, [1], output=0)) + "\nx")
    assert [(a.what, a.error) for a in validate(path, block=16, format="mooncake")] == [
        ("bad-line", True),
        ("zero-output", False),
    ]


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="empty"):
        anomalies_in(tmp_path, [])


def test_a_saved_trace_tells_its_notes(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(row(time, [time])) for time in (2000, 1000)))
    save(open_trace(path, block=16), tmp_path / "t.parquet")
    assert [a.what for a in validate(tmp_path / "t.parquet")] == ["note"]


def test_the_conversation_trace_is_as_described(shared):
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    counts = {anomaly.what: anomaly.count for anomaly in validate(path)}
    repeated = 12_031 - 1_180
    assert counts == {"equal-times": repeated, "ticks": repeated, "duplicate": 1}


def test_ticks_and_silences_are_told(tmp_path):
    times = [3000 * (at // 4) + at % 2 for at in range(80)]  # four a tick, some 1 ms late
    rows = [row(time, [at]) for at, time in enumerate(times)]
    ticks = anomalies_in(tmp_path, rows)
    assert ticks == {"equal-times": (40, 3), "unsorted": (20, 3)}  # each tick has two times
    rows = [row(3000 * (at // 4), [at]) for at in range(80)]
    assert anomalies_in(tmp_path, rows)["ticks"] == (60, 2)
    late = [row(1000 * at, [at]) for at in range(20)] + [row(5_000_000, [99])]
    assert anomalies_in(tmp_path, late) == {"silence": (1, 21)}


def test_lengths_that_no_model_has_are_told(tmp_path):
    rows = [row(0, [0], length=3), row(1000, [], length=1 << 21), row(2500, [7])]
    what = anomalies_in(tmp_path, rows)
    assert what["short-prompt"] == (1, 1)
    assert what["long-prompt"] == (1, 2)


def test_labels_and_sessions_that_some_lack_are_told(tmp_path):
    rows = [row(1000 * at, [at]) for at in range(4)]
    rows[1] |= {"label": "a", "session_id": 1}
    rows[2] |= {"label": "b", "session_id": 2}
    rows[3] |= {"label": "a", "session_id": 1}
    assert anomalies_in(tmp_path, rows) == {
        "no-label": (1, 1),
        "several-labels": (3, 2),
        "no-session": (1, 1),
        "other-beginning": (1, 4),
    }


def test_turns_that_do_not_hold_the_context_are_told(tmp_path):
    ids = [[1, 2, 3], [1, 2, 3, 4], [5], [1, 9, 3, 4, 5]]
    rows = [row(1000 * at, keys) | {"session_id": "s"} for at, keys in enumerate(ids)]
    what = anomalies_in(tmp_path, rows)
    assert what["shrinking-turn"] == (1, 3)
    assert what["other-beginning"] == (1, 4)


def test_copied_sessions_are_told(tmp_path):
    def session(name, lengths, start):
        return [
            row(1000 * (start + at), [1000 * start + at], length=length, output=at + 1)
            | {"session_id": name}
            for at, length in enumerate(lengths)
        ]

    first = [16] * 12
    rows = [
        *session("a", first, 0),
        *session("whole copy", first, 20),
        *session("near copy", [*first, 16], 40),
        *session("other", [16, 15, *first], 60),
        *session("short", [16, 16], 80),
        *session("short too", [16, 16], 90),
    ]
    what = anomalies_in(tmp_path, rows)
    assert what["duplicate-session"] == (1, 13)
    assert what["near-duplicate-session"] == (1, 25)


def test_known_copies_of_real_sessions_are_found(shared):
    path = shared / "data" / "kv_cache_tester" / "sessions_rle.jsonl.gz"
    counts = {anomaly.what: anomaly.count for anomaly in validate(path)}
    assert counts["duplicate-session"] + counts["near-duplicate-session"] == 34


def test_prompts_of_tokens_are_validated_too(tmp_path):
    path = tmp_path / "t.jsonl"
    same = {"arrival_time_ns": 0, "input_toks": 20, "output_toks": 1, "output_tok_ids": [1]}
    same["input_tok_ids"] = list(range(20))
    rows = [same, same, same | {"arrival_time_ns": 1e9, "input_tok_ids": [*range(19), 99]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    what = {a.what: (a.count, a.first_line) for a in validate(path)}
    assert what["duplicate"] == (1, 2)


def test_a_saved_trace_shows_what_its_file_showed(tmp_path, shared):
    path = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    save(open_trace(path), tmp_path / "t.parquet")
    saved = {anomaly.what: anomaly.count for anomaly in validate(tmp_path / "t.parquet")}
    assert saved == {anomaly.what: anomaly.count for anomaly in validate(path)}


def test_a_saved_trace_names_no_option_that_it_does_not_take(tmp_path):
    rows = [row(3000 * (at // 4), [at]) for at in range(80)]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    save(open_trace(path, block=16), tmp_path / "t.parquet")
    saved = {a.what: a.detail for a in validate(tmp_path / "t.parquet")}
    assert "--jitter" not in saved["ticks"]
    assert "--jitter" in {a.what: a.detail for a in validate(path, block=16)}["ticks"]
