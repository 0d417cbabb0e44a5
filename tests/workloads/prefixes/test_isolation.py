from __future__ import annotations

import json

import polars as pl
import pytest

from simulator.base.errors import UsageError
from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.options import ReadOptions
from workloads.prefixes.isolation import Isolation
from workloads.prefixes.key_fields import place_of
from workloads.store import save
from workloads.validation import validate

ROW = {"input_length": 1024, "output_length": 1, "hash_ids": [7, 8]}


@pytest.fixture
def write(tmp_path):
    def write(*extras, row=ROW):
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(json.dumps(row | extra) for extra in extras))
        return path

    return write


def pattern(keys, rows):
    """Return the groups of rows, numbered as they come up."""
    groups = keys.groups(rows).tolist()
    return [list(dict.fromkeys(groups)).index(group) for group in groups]


def shared(path, **options):
    return overlaps(open_trace(path, **options)).tolist()


@pytest.mark.parametrize(
    "name",
    [
        "cache_salt",
        "CACHE-SALT",
        "lora",
        "lora_name",
        "lora_id",
        "lora_request",
        "adapter",
        "model",
        "mm_hashes",
        "multi_modal_uuids",
        "image_urls",
    ],
)
def test_rows_of_two_values_share_nothing(write, name):
    path = write({name: "a"}, {name: "b"}, {name: "a"}, {name: "b"})
    assert shared(path) == [0, 0, 1024, 1024]
    trace = open_trace(path)
    assert any(
        note.startswith(f"prefixes are kept apart by {name} (2 values") for note in trace.notes
    )
    assert not any("not used" in note for note in trace.notes)
    assert "isolation" in {anomaly.what for anomaly in validate(path)}
    assert shared(path, isolate="none") == [0, 1024, 1024, 1024]


def test_a_salt_and_an_adapter_keep_apart_what_has_none_but_an_unknown_model_is_the_only_one(write):
    assert shared(write({}, {"cache_salt": "a"}, {}, {"cache_salt": None})) == [0, 0, 1024, 1024]
    assert shared(write({}, {"lora_name": "a"}, {"lora_id": 0}, {"lora": ""})) == [0, 0, 1024, 1024]
    assert shared(write({}, {"model": "m"}, {"model": "m"})) == [0, 1024, 1024]
    assert shared(write({"model": "a"}, {"model": "b"}, {}, {})) == [0, 0, 0, 1024]


def test_kinds_are_chosen_and_the_others_said(write):
    rows = [{"cache_salt": salt, "model": model} for salt in "st" for model in "mn"]
    path = write(*rows, *rows)
    assert shared(path) == [0, 0, 0, 0, 1024, 1024, 1024, 1024]
    assert shared(path, isolate="salt") == [0, 1024, 0, 1024, 1024, 1024, 1024, 1024]
    assert shared(path, isolate="model, lora") == [0, 0, 1024, 1024, 1024, 1024, 1024, 1024]
    notes = open_trace(path, isolate="salt").notes
    assert "prefixes are kept apart by cache_salt (2 values)" in notes
    assert "prefixes are not kept apart by model (2 values): they are let share a cache" in notes


def test_adapters_are_told_by_their_name_where_a_row_has_several_fields(write):
    one = {"lora_request": {"lora_name": "x", "lora_int_id": 1, "lora_path": "/a"}}
    two = {"lora_request": {"lora_name": "x", "lora_int_id": 9, "lora_path": "/b"}}
    other = {"lora_request": {"lora_name": "y", "lora_int_id": 1, "lora_path": "/a"}}
    assert shared(write(one, two, other)) == [0, 1024, 0]


def test_lists_of_hashes_are_compared_whole(write):
    path = write({"mm_hashes": ["p", "q"]}, {"mm_hashes": ["p"]}, {"mm_hashes": ["p", "q"]}, {})
    assert shared(path) == [0, 0, 1024, 0]
    assert any("the place of the media is not known" in note for note in open_trace(path).notes)


def test_keys_stand_in_what_a_client_adds_to_its_request(write):
    path = write({"extra_body": {"cache_salt": "a", "top_k": 3}}, {"extra_body": {}}, {"nvext": 1})
    assert shared(path) == [0, 0, 1024]
    notes = open_trace(path).notes
    assert "not used: `extra_body.top_k` (1 row), `nvext` (1 row)" in notes


def test_the_order_of_times_keeps_each_row_its_key(write):
    times = [{"timestamp": 9, "cache_salt": "a"}, {"timestamp": 3, "cache_salt": "b"}]
    path = write(*times, {"timestamp": 10, "cache_salt": "a"}, {"timestamp": 1, "cache_salt": "c"})
    assert shared(path) == [0, 0, 0, 1024]


def test_bad_lines_leave_the_keys_of_the_others(write):
    path = write({"cache_salt": "a"}, {"cache_salt": "b", "input_length": -1}, {"cache_salt": "a"})
    assert shared(path, on_bad_line="skip") == [0, 1024]


def test_columns_of_tables_are_keys_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("prompt,Cache Salt,user\nsay it,a,u\nsay it,b,\nsay it,a,\n")
    assert shared(path) == [0, 0, 2]
    assert "not used: `user` (1 row)" in open_trace(path).notes


def test_columns_of_parquet_files_are_counted_and_keys(tmp_path):
    import msgspec

    from workloads.prefixes.prompts import BlockKeys
    from workloads.reading.parquet import read_parquet_rows
    from workloads.rows import Rows

    class Line(msgspec.Struct):
        a: int

    path = tmp_path / "t.parquet"
    columns = {"a": [1, 2, 3], "b": [None, 5, 6], "model": ["m", "n", "m"], "c": [None] * 3}
    pl.DataFrame(columns).write_parquet(path)
    rows = Rows(BlockKeys(1))
    read_parquet_rows(path, rows, Line, lambda line, number: rows.add(number, 1, 0, None))
    assert rows.unused.fact() == "not used: `b` (2 rows)"
    assert rows.unused.counts["b"].first_line == 2
    assert pattern(rows.isolation, 3) == [0, 1, 0]


def test_a_saved_trace_has_its_prefixes_as_they_were(write, tmp_path):
    save(open_trace(write({"cache_salt": "a"}, {"cache_salt": "b"})), tmp_path / "t.parquet")
    assert shared(tmp_path / "t.parquet") == [0, 0]
    with pytest.raises(UsageError, match="isolate: a saved trace"):
        open_trace(tmp_path / "t.parquet", isolate="none")
    with pytest.raises(UsageError, match="isolate: a saved trace"):
        validate(tmp_path / "t.parquet", isolate="none")


@pytest.mark.parametrize("kinds", ["salts", "", "salt,none", "salt;lora"])
def test_unknown_kinds_are_refused(kinds):
    with pytest.raises(UsageError, match="isolate: "):
        ReadOptions(isolate=kinds)


def test_names_with_dots_are_known_by_their_last_part():
    assert place_of("gen_ai.request.model") == ("model", 3)
    assert place_of("vllm.request.cache_salt") == ("salt", 0)
    assert place_of("models") is None
    assert place_of("") is None


def test_rows_of_one_line_may_differ_and_keep_what_the_line_says():
    keys = Isolation()
    keys.look(1, {"cache_salt": "s"})
    for row, model in enumerate(["m", "n", None, "m"]):
        keys.look_within(1, {"model": model})
        keys.add(1, row)
    assert pattern(keys, 4) == [0, 1, 2, 0]
    keys.look(2, {})
    keys.add(2, 4)
    assert pattern(keys, 5) == [0, 1, 2, 0, 3]
    assert pattern(keys, 6) == [0, 1, 2, 0, 3, 3]  # the last row was not added
