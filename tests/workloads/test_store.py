from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import fields, replace

import msgspec
import numpy as np
import polars as pl
import pytest

from simulator.base.errors import DataError, UsageError
from simulator.trace.trace import Trace
from workloads.opening import open_trace
from workloads.store import load, save
from workloads.synthetic import SyntheticSpec, generate


@pytest.fixture(scope="module")
def trace() -> Trace:
    made = generate(SyntheticSpec(requests=300, documents=10))
    return replace(made, name="a [name]", notes=("one", "two"), granularity=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a [trace].parquet"


def assert_equal(one: Trace, other: Trace) -> None:
    for field in fields(Trace):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name == "tree":
            for column in ("parent", "start", "stop"):
                assert (getattr(left, column) == getattr(right, column)).all()
                assert getattr(left, column).dtype == getattr(right, column).dtype
        elif isinstance(left, np.ndarray):
            assert (left == right).all()
            assert left.dtype == right.dtype
        else:
            assert left == right


def test_a_saved_trace_comes_back_whole(trace, path):
    save(trace, path)
    assert_equal(load(path), trace)
    assert_equal(open_trace(path), trace)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_trace_without_times_and_with_fewer_nodes_than_requests_comes_back(trace, path):
    same = replace(
        trace,
        arrival_seconds=None,
        leaf=np.ones(len(trace), dtype=np.int32),
        labels=("a", "b", "c"),
    )
    save(same, path)
    assert_equal(load(path), same)
    answered = replace(same, after=same.leaf)
    save(answered, path)
    assert_equal(load(path), answered)


def test_the_same_trace_gives_the_same_bytes(trace, tmp_path):
    save(trace, tmp_path / "one")
    save(trace, tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def refused(path) -> str:
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_any_truncation_or_flipped_byte_is_one_line_or_harmless(trace, path):
    save(trace, path)
    whole = path.read_bytes()
    for size in (4, 11, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(path)
    random = np.random.default_rng(0)
    for at in random.integers(4, len(whole), size=60):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        with suppress(DataError):
            assert load(path).problem() is None


def test_another_parquet_file_is_refused(path):
    pl.DataFrame({"a": [1]}).write_parquet(path)
    assert "another Parquet file" in refused(path)


def header_of(path):
    return msgspec.json.decode(pl.read_parquet_metadata(path)["milepost"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "expected version 1"),
        ({"format": "other"}, "another Parquet file"),
        ({"nodes": 10**6}, "expected 1000000 rows"),
        ({"nodes": 2**40}, "metadata"),
        ({"granularity": 0}, "metadata"),
        ({"labels": []}, "label"),
        ({"surprise": 1}, "metadata"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(trace, path, change, message):
    save(trace, path)
    header = msgspec.json.encode(header_of(path) | change).decode()
    pl.read_parquet(path, glob=False).write_parquet(path, metadata={"milepost": header})
    assert message in refused(path)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pl.lit(None).cast(pl.Int32).alias("leaf"), "field 'leaf': expected a value in every row"),
        (pl.col("leaf").cast(pl.Float64), "field 'leaf': expected int32"),
        ((pl.col("leaf") * 10_000).alias("leaf"), "a node that the prefix tree does not have"),
        ((-pl.col("arrival_seconds")).alias("arrival_seconds"), "arrival times"),
        ((-pl.col("output_tokens")).alias("output_tokens"), "negative"),
        ((-pl.col("parent")).alias("parent"), "prefix tree"),
    ],
)
def test_columns_that_break_a_rule_are_refused(trace, path, column, message):
    save(trace, path)
    header = pl.read_parquet_metadata(path)["milepost"]
    frame = pl.read_parquet(path, glob=False).with_columns(column)
    frame.write_parquet(path, metadata={"milepost": header})
    assert message in refused(path)


def test_a_missing_column_is_refused(trace, path):
    save(trace, path)
    header = pl.read_parquet_metadata(path)["milepost"]
    pl.read_parquet(path, glob=False).drop("leaf").write_parquet(
        path, metadata={"milepost": header}
    )
    assert "leaf" in refused(path)


def test_what_cannot_be_written_is_a_usage_error_and_leaves_nothing(trace, tmp_path):
    for target in (tmp_path, tmp_path / "absent" / "t.parquet", tmp_path / ("x" * 300)):
        with pytest.raises(UsageError, match="cannot be written"):
            save(trace, target)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_older_file(trace, path):
    path.write_bytes(b"older")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            save(trace, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"older"
    assert len(list(path.parent.iterdir())) == 1
