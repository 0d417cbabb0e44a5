from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from simulator.base.errors import DataError, UsageError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace

GOOD = {"timestamp": 5000, "input_length": 700, "output_length": 9, "hash_ids": [3, 4]}


@pytest.fixture
def write(tmp_path):
    def write(*rows, name="trace.v1.jsonl"):
        path = tmp_path / name
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        path.write_text(text)
        return path

    return write


def without(*names):
    return {name: value for name, value in GOOD.items() if name not in names}


def test_columns_are_read_in_their_units(write):
    path = write(
        GOOD | {"session_id": "a", "label": "chat", "overlap_tokens": 3},
        GOOD | {"timestamp": 6500.5, "hash_ids": [3, 5], "session_id": 7, "type": "text"},
        GOOD | {"timestamp": 7000, "input_length": 512, "hash_ids": [3], "session_id": "a"},
    )
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.name == "trace.v1"
    assert trace.prompt_tokens.tolist() == [700, 700, 512]
    assert trace.output_tokens.tolist() == [9, 9, 9]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1.5005, 2]
    assert trace.session.tolist() == [0, 1, 0]
    assert trace.labels == ("chat", "text")
    assert trace.label.tolist() == [0, 1, -1]
    assert trace.granularity == 512
    assert overlaps(trace).tolist() == [0, 512, 512]
    assert trace.notes == ()


def test_gzip_is_recognised_by_content(write):
    path = write(GOOD, name="trace.bin")
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert len(open_trace(path)) == 1


def test_times_and_outputs_may_be_absent(write):
    trace = open_trace(write(without("timestamp", "output_length")))
    assert trace.arrival_seconds is None
    assert trace.output_tokens.tolist() == [0]


def test_unsorted_rows_are_sorted_stably_with_a_note(write):
    rows = [(9000, 1), (4000, 2), (9000, 3), (4000, 4), (4500, 2)]
    path = write(
        *(
            {"timestamp": t, "input_length": 512, "output_length": k, "hash_ids": [k]}
            for t, k in rows
        )
    )
    trace = open_trace(path)
    assert trace.output_tokens.tolist() == [2, 4, 2, 1, 3]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 0, 0.5, 5, 5]
    assert trace.leaf.tolist() == [1, 2, 1, 3, 4]
    assert any("sorted" in note for note in trace.notes)


def test_ids_of_content_are_matched_as_leading_runs_with_a_note(write):
    rows = [[1, 2, 3], [2, 3], [1, 2, 4]]
    path = write(*({"input_length": 512 * len(ids), "hash_ids": ids} for ids in rows))
    trace = open_trace(path)
    assert overlaps(trace).tolist() == [0, 0, 1024]
    assert any("leading runs" in note for note in trace.notes)


def test_prompts_with_fewer_ids_than_blocks_are_noted(write):
    trace = open_trace(write(GOOD, GOOD | {"hash_ids": [3]}))
    assert overlaps(trace).tolist() == [0, 512]
    assert any(note.startswith("1 prompts have a tail without an id") for note in trace.notes)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GOOD | {"input_length": 0}, "field 'input_length': expected 1 to"),
        (GOOD | {"input_length": -4}, "field 'input_length': expected 1 to"),
        (GOOD | {"input_length": 10**30}, "field 'input_length'"),
        (
            GOOD | {"input_length": "700"},
            "field 'input_length': expected a whole number, found str",
        ),
        (
            GOOD | {"input_length": 700.5},
            "field 'input_length': expected a whole number, found float",
        ),
        (GOOD | {"output_length": -1}, "field 'output_length': expected 0 to"),
        (GOOD | {"timestamp": -1}, "field 'timestamp': expected a time from 0 to"),
        (GOOD | {"timestamp": 1e300}, "field 'timestamp': expected a time from 0 to"),
        (GOOD | {"timestamp": "now"}, "field 'timestamp': expected a number"),
        (without("timestamp"), "field 'timestamp': expected a time on every line or on none"),
        (without("input_length"), "field 'input_length': expected this field, found none"),
        (without("hash_ids"), "field 'hash_ids': expected this field, found none"),
        (GOOD | {"hash_ids": [1, 2, 3]}, "field 'hash_ids': expected at most 2 for 700 tokens"),
        (GOOD | {"hash_ids": [1, -2]}, "field 'hash_ids[1]': expected an integer from 0"),
        (GOOD | {"hash_ids": [2**64]}, "field 'hash_ids[0]': expected an integer from 0"),
        (
            GOOD | {"hash_ids": [1, "x"]},
            "field 'hash_ids': expected ids that are all whole numbers",
        ),
        (GOOD | {"session_id": True}, "field 'session_id'"),
        (GOOD | {"label": "x" * 201}, "field 'label'"),
        ([1, 2], "expected one JSON object, found array"),
        ('{"input_length": 2748 610}', "expected one JSON object"),
        (
            '{"timestamp": NaN, "input_length": 1, "hash_ids": []}',
            "field 'timestamp': expected a finite number, found NaN",
        ),
        (
            '{"input_length": 700, "hash_ids": [1, -Infinity]}',
            "field 'hash_ids': expected a finite number, found -Infinity",
        ),
        ('{"input_length": 1e999, "hash_ids": []}', "expected a number within range"),
        ('{"input_length": 700, "label": "NaN" "hash_ids": []}', "found a broken line: "),
        ('{"timestamp": 1e999, "input_length": 1, "hash_ids": []}', "field 'timestamp'"),
        ('{"input_length": 700, "hash_ids": [1', "expected one JSON object"),
        ("{", "one JSON object a line, found the first line of an indented document"),
        ('{"x": ' + "[" * 100_000, "nested too deeply"),
        ("what is this", "expected one JSON object"),
    ],
)
def test_a_bad_line_fails_with_its_place_or_is_skipped_and_noted(write, row, message):
    path = write(GOOD, row, GOOD | {"timestamp": 6000, "hash_ids": [3, 9]})
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    trace = open_trace(path, on_bad_line="skip")
    assert overlaps(trace).tolist() == [0, 512]
    assert trace.notes[0].startswith("1 line skipped as bad, 2 requests read; the first, line 2: ")


def test_text_that_is_not_utf8_is_a_bad_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"input_length": 1, "hash_ids": [], "session_id": "\xff\xfe"}\n')
    with pytest.raises(DataError, match=r"t\.jsonl:1: "):
        open_trace(path)


def test_a_file_without_a_good_line_fails_even_when_bad_lines_are_skipped(write):
    with pytest.raises(DataError, match="empty file"):
        open_trace(write())
    with pytest.raises(DataError, match=r":1: .*JSON"):
        open_trace(write("x", "y"), on_bad_line="skip", format="mooncake")


@pytest.mark.parametrize(
    "wrong", [{"block": 0}, {"block": -1}, {"format": "moncake"}, {"on_bad_line": "ignore"}]
)
def test_wrong_arguments_are_usage_errors(write, wrong):
    with pytest.raises(UsageError):
        open_trace(write(GOOD), **wrong)


NATIVE = ("kv_cache_tester", "azure_llm_2023", "servegen")


@pytest.mark.parametrize("folder", NATIVE)
def test_files_of_other_formats_are_refused_in_one_line(shared, folder):
    for path in sorted((shared / "data" / folder).glob("*.*")):
        with pytest.raises(DataError) as caught:
            open_trace(path, format="mooncake")
        assert "\n" not in str(caught.value)


def test_the_first_lines_of_a_native_file_are_read(shared):
    path = shared / "data" / "format_fixtures" / "mooncake_conversation_first20.jsonl"
    trace = open_trace(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert trace.prompt_tokens.tolist() == [line["input_length"] for line in lines]
    assert trace.arrival_seconds is not None
    first = lines[0]["timestamp"]
    assert np.allclose(
        trace.arrival_seconds, [(line["timestamp"] - first) / 1000 for line in lines]
    )


def other_names(row):
    names = {
        "input_length": "input_tokens",
        "output_length": "output_tokens",
        "timestamp": "created_time",
        "hash_ids": "prefix_block_hashes",
    }
    return {names.get(name, name): value for name, value in row.items()}


def test_rows_under_the_names_of_other_tools_are_the_same_rows(write):
    rows = [GOOD, GOOD | {"hash_ids": [3, 5], "timestamp": 6000}]
    trace = open_trace(write(*map(other_names, rows)))
    assert trace.prompt_tokens.tolist() == [700, 700]
    assert trace.output_tokens.tolist() == [9, 9]
    assert trace.arrival_seconds is not None
    assert trace.arrival_seconds.tolist() == [0, 1]
    assert overlaps(trace).tolist() == [0, 512]


def test_two_names_of_one_thing_must_agree(write):
    assert len(open_trace(write(GOOD | {"input_tokens": 700, "block_tokens": 512}))) == 1
    with pytest.raises(DataError, match="'input_tokens': expected the value of the field 'input"):
        open_trace(write(GOOD | {"input_tokens": 701}))


def test_text_ids_are_names_that_are_equal_or_not(write):
    rows = [["9f", "0A"], ["9f", "0a"], ["9f", "0A", "9f"], ["0A"]]
    path = write(*({"input_length": 16 * len(ids), "prefix_block_hashes": ids} for ids in rows))
    with pytest.raises(DataError, match="'prefix_block_hashes': expected at most 1 for 32 tokens"):
        open_trace(path)
    assert overlaps(open_trace(path, block=16)).tolist() == [0, 16, 32, 0]


@pytest.mark.parametrize("ids", [[1, "a"], ["a", 1], ["a"], [2]])
def test_ids_are_all_numbers_or_all_text(write, ids):
    other = [1] if all(isinstance(key, str) for key in ids) else ["b"]
    rows = [{"input_length": 2000, "hash_ids": row} for row in (other, ids)]
    with pytest.raises(DataError, match=r":2: field 'hash_ids': expected ids that are all whole"):
        open_trace(write(*rows))


def test_64_bit_ids_are_told_apart_to_the_last_bit(write):
    high = 2**64 - 1
    rows = [[high, 1], [high - 1, 1], [high, 2], [high - 2**32, 1]]
    path = write(*({"input_length": 32, "hash_ids": ids} for ids in rows))
    assert overlaps(open_trace(path, block=16)).tolist() == [0, 0, 16, 0]


@pytest.mark.parametrize("name", ["block_size", "block_tokens"])
def test_a_block_size_in_the_rows_goes_before_the_flag(write, name):
    rows = [{"input_length": 40, "hash_ids": ids, name: 16} for ids in ([1, 2, 3], [1, 2])]
    trace = open_trace(write(*rows), block=512)
    assert trace.granularity == 16
    assert overlaps(trace).tolist() == [0, 32]


def test_rows_of_different_block_sizes_share_nothing_and_are_noted(write):
    rows = [
        {"input_length": 64, "hash_ids": [1, 2, 3, 4], "block_size": 16},
        {"input_length": 100, "hash_ids": [1, 2], "block_size": 48},
        {"input_length": 40, "hash_ids": []},
        {"input_length": 60, "hash_ids": [1, 2, 5, 6], "block_size": 16},
        {"input_length": 90, "hash_ids": [1, 2], "block_size": 48},
    ]
    trace = open_trace(write(*rows))
    assert trace.problem() is None
    assert trace.granularity == 16
    assert trace.prompt_tokens.tolist() == [64, 100, 40, 60, 90]
    assert overlaps(trace).tolist() == [0, 0, 0, 32, 90]
    assert any(note.startswith("mixed-block-sizes: 2 x blocks of 16, 48") for note in trace.notes)


@pytest.mark.parametrize("size", [0, -16, 2**31])
def test_a_block_size_out_of_range_is_a_bad_line(write, size):
    with pytest.raises(DataError, match=r":1: field 'block_size': expected 1 to"):
        open_trace(write(GOOD | {"block_size": size}))


def test_overlaps_that_a_file_counts_itself_are_told_and_checked(write):
    counted = GOOD | {"overlap_tokens": 70, "end_overlap_tokens": 0}
    trace = open_trace(write(counted, counted | {"end_overlap_tokens": 7}))
    assert trace.notes == (
        "the file counts overlaps to the token: 0.100 of the prompt tokens were seen before, "
        "0.005 as whole earlier prompts",
    )
    assert open_trace(write(counted, GOOD)).notes == ()  # some rows do not tell
    with pytest.raises(DataError, match=r"field 'overlap_tokens': expected 0 to 700 tokens"):
        open_trace(write(GOOD | {"overlap_tokens": 701}))


def test_ids_under_another_name_are_not_passed_over(write):
    row = {"timestamp": 1780923600.0, "input_length": 700, "input_block_hash_ids": [3, 4]}
    path = write(row, row | {"timestamp": 1780923600.005})
    trace = open_trace(path)
    assert overlaps(trace).tolist() == [0, 700]
    assert any("--time-unit s" in note for note in trace.notes)
    assert open_trace(path, time_unit="s").arrival_seconds.tolist() == [0, 0.005]


@pytest.mark.parametrize("name", ["block_ids", "block_hashes"])
def test_the_ids_of_blocks_are_ids_of_prefixes(write, name):
    row = {"timestamp": 1780722000040.479, "input_length": 586, "output_length": 1}
    path = write(row | {name: [1, 2, 3]}, row | {name: [1, 2, 4]})
    assert format_of(path) == "mooncake"
    assert overlaps(open_trace(path, block=256)).tolist() == [0, 512]


def test_too_many_ids_are_told_under_the_names_of_the_file(write):
    row = {"input_length": 1000, "input_block_hash_ids": [1, 2, 3]}
    message = r"field 'input_block_hash_ids': .*found 3: is the block size right \(--block\)\?"
    with pytest.raises(DataError, match=message):
        open_trace(write(row))
    with pytest.raises(DataError, match=r"is the block size right \(block_size\)"):
        open_trace(write(row | {"block_size": 512}))
    with pytest.raises(DataError, match=r"field 'input_block_hash_ids\[0\]'"):
        open_trace(write(row | {"input_block_hash_ids": [-1]}))


@pytest.mark.parametrize("name", ["time", "arrival_time", "created_time"])
def test_times_under_other_names_are_times(write, name):
    row = without("timestamp")
    trace = open_trace(write(row | {name: 0}, row | {name: 3000.5}))
    assert trace.arrival_seconds.tolist() == [0, 3.0005]
    with pytest.raises(DataError, match=f"field '{name}': expected a time from 0 to"):
        open_trace(write(row | {name: -1}))


def test_the_first_name_of_a_time_counts(write):
    trace = open_trace(write(GOOD | {"time": "noon"}, GOOD | {"timestamp": 6000, "time": 7}))
    assert trace.arrival_seconds.tolist() == [0, 1]
    with pytest.raises(DataError, match="'created_time': expected the value of the field"):
        open_trace(write(GOOD | {"created_time": 1}))


def test_dates_are_times_and_waits_stay_milliseconds(write):
    dates = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01.5Z"]
    path = write(*(GOOD | {"timestamp": date} for date in dates))
    trace = open_trace(path)
    assert trace.arrival_seconds.tolist() == [0, 1.5]
    assert trace.notes == ()
    later = without("timestamp") | {"session_id": "a", "delay": 1000, "output_length": 0}
    first = GOOD | {"timestamp": dates[0], "session_id": "a", "output_length": 0}
    assert open_trace(write(first, later)).arrival_seconds.tolist() == [0, 1]
    for row in (GOOD, GOOD | {"timestamp": "noon"}):
        with pytest.raises(DataError, match=":2: field 'timestamp': expected a "):
            open_trace(write(first, row))
