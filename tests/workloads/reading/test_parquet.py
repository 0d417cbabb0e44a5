from __future__ import annotations

import msgspec
import polars as pl
import pytest

from simulator.base.errors import DataError
from workloads.opening import format_of, is_saved, open_trace
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.parquet import read_parquet_rows
from workloads.rows import Rows
from workloads.store import save


class Line(msgspec.Struct):
    name: str
    count: int
    share: float = 0.5


def read(path):
    taken = []

    def take(line, number):
        taken.append((number, line.name, line.count, line.share))

    read_parquet_rows(path, Rows(BlockKeys(1)), Line, take)
    return taken


def write(path, **columns):
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_rows_are_read_by_the_names_of_their_columns(tmp_path):
    path = write(tmp_path / "t.parquet", count=[1, 2], name=["a", "b"], other=[None, None])
    assert read(path) == [(1, "a", 1, 0.5), (2, "b", 2, 0.5)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"name": ["a", "b"], "count": [1, None]}, ":2: field 'count': expected a whole number"),
        ({"name": ["a"], "count": [1.5]}, ":1: field 'count': expected a whole number, found"),
        ({"name": [3], "count": [1]}, ":1: field 'name': expected text, found int"),
        ({"name": ["a"]}, ": expected a column 'count', found name"),
    ],
)
def test_bad_rows_and_missing_columns_are_named(tmp_path, columns, message):
    path = write(tmp_path / "t.parquet", **columns)
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_saved_traces_are_told_from_other_parquet_files(tmp_path):
    source = tmp_path / "t.csv"
    source.write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0,5,1\n")
    saved = tmp_path / "saved.parquet"
    save(open_trace(source), saved)
    assert is_saved(saved)
    assert len(open_trace(saved)) == 1
    foreign = write(tmp_path / "foreign [a].parquet", a=[1])
    assert not is_saved(foreign)
    with pytest.raises(DataError, match="looks like no known trace format"):
        open_trace(foreign)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(saved.read_bytes()[:-9])
    with pytest.raises(DataError, match="is not a sound Parquet file"):
        open_trace(damaged)


def test_a_table_of_another_format_in_parquet_is_refused_in_one_line(tmp_path):
    path = write(
        tmp_path / "t.parquet", arrived_at=[1.0], num_prefill_tokens=[1], num_decode_tokens=[1]
    )
    assert format_of(path) == "vidur"
    with pytest.raises(DataError, match="expected lines of text, found binary content"):
        open_trace(path)
