from __future__ import annotations

import gzip
import json
from itertools import pairwise

import numpy as np
import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import end_only_savings, overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate


def request(time, length, ids, **others):
    return {"t": time, "type": "n", "in": length, "out": 5, "hash_ids": ids} | others


def session(*requests, **others):
    return {"id": "s", "block_size": 16, "hash_id_scope": "local", "requests": requests} | others


FIRST = session(
    request(0, 40, [1, 2]),
    request(5.5, 70, [1, 2, 3, 4]),
    {
        "t": 7.0,
        "type": "subagent",
        "requests": [request(0.0, 32, [1, 9]), request(2.0, 50, [1, 9])],
    },
    request(8, 64, [1, 2, 3, 7], out=0),
)
SECOND = session(request(0, 40, [1, 2]), request(1, 48, [1, 2, 3]))


@pytest.fixture
def write(tmp_path):
    def write(*sessions, name="t.json"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(each) for each in sessions))
        return path

    return write


@pytest.fixture
def folder(tmp_path):
    def folder(*sessions):
        path = tmp_path / "traces"
        path.mkdir()
        for number, each in enumerate(sessions):
            (path / f"trace_{number:04}.json").write_text(json.dumps(each, indent=1))
        (path / "README.md").write_text("not a trace")
        return path

    return folder


def test_columns_are_read_and_sub_agents_merged_by_time(write):
    trace = open_trace(write(FIRST))
    assert trace.problem() is None
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 5.5, 7, 8, 9]
    assert trace.prompt_tokens.tolist() == [40, 70, 32, 64, 50]
    assert trace.output_tokens.tolist() == [5, 5, 5, 0, 5]
    assert trace.session.tolist() == [0] * 5
    assert [trace.labels[at] for at in trace.label] == [
        "main", "main", "subagent", "main", "subagent",
    ]  # fmt: skip
    assert trace.granularity == 16
    assert overlaps(trace).tolist() == [0, 32, 16, 48, 32]
    assert any(note.startswith("subagent-times: 2 x times of sub-agents are read as relative")
               for note in trace.notes)  # fmt: skip


def test_times_of_sub_agents_are_absolute_where_none_is_earlier_than_its_sub_agent(write):
    inner = [request(7.0, 32, [1, 9]), request(9.0, 50, [1, 9])]
    marker = {"t": 7.0, "type": "subagent", "requests": inner}
    trace = open_trace(write(session(request(0, 40, [1, 2]), marker, request(8, 64, [1, 2, 3]))))
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 7, 8, 9]
    assert any("read as absolute" in note for note in trace.notes)


def test_one_relative_time_makes_the_times_of_all_sub_agents_relative(folder):
    late = {"t": 2.0, "requests": [request(3.0, 32, [1, 9])]}
    trace = open_trace(folder(session(request(0, 40, [1, 2]), late), FIRST))
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds[trace.session == 0].tolist() == [0, 5]


def test_a_sub_agent_of_a_sub_agent_is_relative_to_both(write):
    inner = {"t": 3.0, "requests": [request(0.5, 32, [1])]}
    outer = {"t": 10.0, "requests": [request(1.0, 32, [1]), inner]}
    trace = open_trace(write(session(request(0, 40, [1, 2]), outer)))
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 11, 13.5]


def test_ids_are_local_to_a_session_unless_the_file_says_global(folder, tmp_path):
    assert overlaps(open_trace(folder(SECOND, SECOND))).tolist() == [0, 0, 32, 32]
    everywhere = SECOND | {"hash_id_scope": "global"}
    path = tmp_path / "global.jsonl"
    path.write_text(json.dumps(everywhere) + "\n" + json.dumps(everywhere))
    assert overlaps(open_trace(path)).tolist() == [0, 32, 32, 48]


def as_ranges(whole):
    ranges = json.loads(json.dumps(whole))
    for one in ranges["requests"]:
        for inner in one.get("requests", [one]):
            ids = inner.pop("hash_ids")
            cuts = [0, *(at for at in range(1, len(ids)) if ids[at] != ids[at - 1] + 1), len(ids)]
            inner["ranges"] = [[ids[a], b - a] for a, b in pairwise(cuts)]
    return ranges


def test_ranges_are_the_ids_that_they_stand_for(write):
    one = open_trace(write(FIRST, SECOND, name="ids.jsonl"))
    other = open_trace(write(as_ranges(FIRST), as_ranges(SECOND), name="ranges.jsonl"))
    for name in ("leaf", "arrival_seconds", "output_tokens", "session", "label"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name in ("parent", "start", "stop"):
        assert np.array_equal(getattr(one.tree, name), getattr(other.tree, name))


def test_a_document_may_fill_lines_of_any_number(write, tmp_path):
    path = tmp_path / "indented.json"
    path.write_text(json.dumps(FIRST, indent=2))
    one, other = open_trace(write(FIRST)), open_trace(path)
    assert overlaps(one).tolist() == overlaps(other).tolist()


def test_sessions_start_together_unless_a_rate_spreads_them(folder):
    path = folder(*[SECOND] * 200)
    together = open_trace(path)
    assert together.arrival_seconds is not None
    assert set(together.arrival_seconds.tolist()) == {0, 1}
    assert any(note.startswith("sessions-at-once: 200 x") for note in together.notes)
    spread = open_trace(path, session_rate=0.5, seed=3)
    assert spread.arrival_seconds is not None
    assert any("0.5 a second (Poisson, seed 3)" in note for note in spread.notes)
    starts = [spread.arrival_seconds[spread.session == at].min() for at in range(200)]
    assert starts == sorted(starts)
    # the mean of 199 exponential gaps of 2 s has a standard error of 0.142 s
    assert 2 - 4 * 0.142 < np.diff(starts).mean() < 2 + 4 * 0.142
    for at in range(200):
        times = spread.arrival_seconds[spread.session == at]
        assert np.allclose(np.diff(times), 1)
    again = open_trace(path, session_rate=0.5, seed=3)
    assert again.arrival_seconds is not None
    assert again.arrival_seconds.tolist() == spread.arrival_seconds.tolist()
    other = open_trace(path, session_rate=0.5, seed=4)
    assert other.arrival_seconds is not None
    assert other.arrival_seconds.tolist() != spread.arrival_seconds.tolist()


def test_ids_of_content_are_matched_as_leading_runs_and_found(write):
    path = write(session(request(0, 48, [1, 2, 3]), request(1, 48, [2, 3, 1])))
    assert overlaps(open_trace(path)).tolist() == [0, 0]
    anomalies = {anomaly.what: anomaly.first_line for anomaly in validate(path)}
    assert anomalies["content-ids"] == 1


def test_oddities_are_found(folder):
    odd = session(request(0, 0, []), request(1, 40, [1]), request(2, 40, [1, 2], out=0))
    copies = [SECOND | {"requests": [request(at, 40 + at, [1, 2]) for at in range(12)]}] * 2
    anomalies = {
        anomaly.what: anomaly.count for anomaly in validate(folder(odd, session(), *copies))
    }
    expected = {
        "empty-prompt": 1,
        "empty-session": 1,
        "sessions-at-once": 3,
        "too-few-ids": 1 + 2 * 4,
        "no-id-for-partial-block": 1 + 2 * 8,
        "zero-output": 1,
        "duplicate-session": 1,
    }
    assert {what: anomalies.get(what) for what in expected} == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"block_size": 0}, "field 'block_size': expected 1 to"),
        ({"hash_id_scope": "some"}, "field 'hash_id_scope': expected local or global"),
        ({"requests": [request(-1, 40, [1])]}, "field 'requests[0].t': expected a time from 0"),
        ({"requests": [request(0, -1, [1])]}, "field 'requests[0].in': expected 1 to"),
        ({"requests": [request(0, 40.5, [1])]}, "field 'requests[0].in': expected a whole number"),
        ({"requests": [{"t": 0}]}, "field 'requests[0].in': expected this field, found none"),
        ({"requests": [request(0, 9, [1], out=-1)]}, "field 'requests[0].out': expected 0 to"),
        ({"requests": [request(0, 9, [1, 2])]}, "'requests[0].hash_ids': expected at most 1 for 9"),
        ({"requests": [request(0, 40, [1, -2])]}, "field 'requests[0].hash_ids[1]': expected an"),
        ({"requests": [request(0, 40, [2**70])]}, "field 'requests[0].hash_ids[0]': expected an"),
        (
            {"requests": [{"t": 1, "requests": [request(0, 40, [1]), request(0, 40, ["a"])]}]},
            "field 'requests[0].requests[1].hash_ids[0]': expected a whole number",
        ),
        (
            {"requests": [{"t": 0, "in": 64, "out": 1, "ranges": [[5, 0]]}]},
            "field 'requests[0].ranges[0]': expected the first of at least 1 id",
        ),
        (
            {"requests": [{"t": 0, "in": 64, "out": 1, "ranges": [[0, 5]]}]},
            "field 'requests[0].ranges': expected at most 4 for 64 tokens in blocks of 16",
        ),
    ],
)
def test_a_bad_session_fails_with_its_place_or_is_skipped_as_a_whole(write, change, message):
    path = write(FIRST, FIRST | change, SECOND, name="t.jsonl")
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) == 7


def test_a_bad_document_of_a_folder_is_named(folder):
    path = folder(FIRST, FIRST | {"block_size": 0}, SECOND)
    with pytest.raises(DataError, match=r"trace_0001\.json: field 'block_size'"):
        open_trace(path)
    assert len(open_trace(path, on_bad_line="skip")) == 7


def test_a_file_without_requests_is_refused(write):
    with pytest.raises(DataError, match="expected sessions with requests, found none"):
        open_trace(write(session()), format="kv-cache-tester")


def test_wrong_options_are_refused(write):
    for wrong in ({"session_rate": 0.0}, {"session_rate": float("nan")}, {"seed": -1}):
        with pytest.raises(UsageError):
            open_trace(write(FIRST), **wrong)


def test_native_files_are_read(shared):
    fixtures = shared / "data" / "format_fixtures"
    plain = open_trace(fixtures / "weka_trace_0504.json")
    assert plain.prompt_tokens.tolist() == [11133, 11300, 11306]
    assert plain.output_tokens.tolist() == [139, 96, 102]
    assert plain.arrival_seconds is not None
    assert plain.arrival_seconds.tolist() == [0, 13, 3075]
    assert overlaps(plain).tolist() == [0, 173 * 64, 170 * 64]
    nested = open_trace(fixtures / "weka_trace_0291_subagent.json")
    assert len(nested) == 32
    assert int(nested.prompt_tokens.sum()) == 2_254_119  # of which 677,797 in sub-agents
    assert int(nested.output_tokens.sum()) == 19_504
    inner = nested.labels.index("subagent")
    assert int(nested.prompt_tokens[nested.label == inner].sum()) == 677_797
    assert nested.arrival_seconds is not None
    assert nested.arrival_seconds[nested.label == inner][:2].tolist() == [1148.013, 1153.013]


@pytest.fixture(scope="module")
def sessions(shared):
    path = shared / "data" / "kv_cache_tester" / "sessions_rle.jsonl.gz"
    with gzip.open(path, "rt") as file:
        return path, [json.loads(line) for line in file]


def test_real_sessions_agree_with_a_naive_set_of_unfolded_ids(sessions, tmp_path):
    _, records = sessions
    some = sorted(records, key=lambda one: len(one["requests"]))[:300:10] + records[:5]
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(map(json.dumps, some)))
    trace = open_trace(few, session_rate=1e-6, seed=1)  # one after the other
    overlap, saved = overlaps(trace), end_only_savings(trace)
    for number, one in enumerate(some):
        requests = trace.session == number
        expected = naive(one)
        assert overlap[requests].tolist() == [deepest for deepest, _ in expected]
        assert saved[requests].tolist() == [end for _, end in expected]


def naive(one):
    """Overlap of each request with all before it, and the deepest earlier end on its path."""
    block, seen, ends, depths = one["block_size"], set(), set(), []
    for each in one["requests"]:
        ids = [start + at for start, count in each["ranges"] for at in range(count)]
        known = [at + 1 for at, key in enumerate(ids) if key in seen]
        ended = [
            at + 1 for at, key in enumerate(ids) if key in ends and (at + 1) * block < each["in"]
        ]
        depths.append((max(known, default=0) * block, max(ended, default=0) * block))
        seen.update(ids)
        ends.update(ids[-1:])
    return depths


def test_all_published_sessions_are_read(sessions):
    path, records = sessions
    assert format_of(path) == "kv-cache-tester"
    trace = open_trace(path)
    assert trace.problem() is None
    assert len(trace) == 49_334
    assert len(set(trace.session.tolist())) == len(records) == 710
    assert int(trace.prompt_tokens.sum()) == sum(
        one["in"] for each in records for one in each["requests"]
    )
    assert not any("leading runs" in note for note in trace.notes)
    counts = {anomaly.what: anomaly.count for anomaly in validate(path)}
    copies = counts["duplicate-session"] + counts["near-duplicate-session"]
    assert copies == sum(each["near_duplicate"] for each in records) == 34
    assert counts["duplicate-session"] == 18
    assert counts["zero-output"] == 27
