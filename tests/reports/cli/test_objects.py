"""`milepost objects`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.reports.cli.conftest import Milepost

ROWS = "obj_id,size\na,3\nb,4\na,3\nc,5\nb,4\n"


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "stream.csv"
    path.write_text(ROWS)
    return path


def test_csv_and_parquet_agree(milepost: Milepost, stream: Path, tmp_path: Path) -> None:
    parquet = tmp_path / "stream.parquet"
    pl.read_csv(stream).write_parquet(parquet)
    flags = ("--policy", "lru", "--capacity", "8", "--json")
    told = [milepost("objects", path, *flags).json for path in (stream, parquet)]
    assert told[0] == told[1] == {"hits": 1, "misses": 4, "hit_bytes": 3}
    found = milepost(
        "objects", stream, "--policy", "belady", "--capacity", "2", "--uniform", "--json"
    )
    assert found.json == {"hits": 2, "misses": 3, "hit_bytes": 2}


def test_people_see_shares_with_their_parts(milepost: Milepost, stream: Path) -> None:
    told = milepost("objects", stream, "--policy", "fifo", "--capacity", "1 KiB").out
    assert "40.0 % (2 / 5)" in told
    assert "36.8 % (7 / 19)" in told


def test_exact_against_the_reference(milepost: Milepost, shared: Path) -> None:
    path = shared / "reference" / "object_cache" / "fixture_zipf.parquet"
    found = milepost("objects", path, "--policy", "sieve", "--capacity", 261, "--uniform", "--json")
    assert found.json == {"hits": 11469, "misses": 8531, "hit_bytes": 11469}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot be read as CSV"),
        (b"a,b\n1,2\n", "expected columns obj_id and size, found a, b"),
        (b"obj_id,size\na,3\nb,\n", ":3: field 'size': expected whole bytes"),
        (b"obj_id,size\na,3\nb,0\n", ":3: field 'size': expected whole bytes"),
        (b"obj_id,size\na,-3\n", ":2: field 'size'"),
        (b"obj_id,size\na,2.5\n", "found '2.5'"),
        (b"obj_id,size\na,nan\n", "found 'nan'"),
        (b"obj_id,size\na,99999999999999999999\n", "field 'size'"),
        (b"obj_id,size\n,3\n", ":2: field 'obj_id': expected an id, found nothing"),
        (b"obj_id,size\na,3\na,4\n", ":3: field 'size': expected the size that this object had"),
        (b"obj_id,size\na,3\nb,4,5\n", "cannot be read as CSV"),
        (b"obj_id,size,obj_id\na,3,b\n", ":1: field 'obj_id': expected one column of this name"),
        (b"size,obj_id,size\n3,a,4\n", ":1: field 'size': expected one column of this name"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (b"\xff\xfe\x00\x01", "stream.csv"),
    ],
)
def test_bad_files_are_one_line(
    content: bytes, problem: str, milepost: Milepost, stream: Path
) -> None:
    stream.write_bytes(content)
    ended = milepost("objects", stream, "--policy", "lru", "--capacity", "8")
    assert ended.code == 3
    assert problem in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {"obj_id": [[1], [2]], "size": [1, 2]},
            ": field 'obj_id': expected a column of single values, found List(Int64)",
        ),
        ({"obj_id": [1, 2], "size": [[1], [2]]}, ": field 'size': expected a column of single"),
        ({"obj_id": [1, 2], "size": [0, 2]}, ": row 1: field 'size': expected whole bytes"),
        ({"obj_id": [1, None], "size": [1, 2]}, ": row 2: field 'obj_id': expected an id"),
        ({"obj_id": [1, 2, 1], "size": [1, 2, 3]}, ": row 3: field 'size': expected the size"),
    ],
)
def test_bad_parquet_is_one_line(
    columns: dict[str, list[object]], problem: str, milepost: Milepost, tmp_path: Path
) -> None:
    path = tmp_path / "stream.parquet"
    pl.DataFrame(columns).write_parquet(path)
    ended = milepost("objects", path, "--policy", "lru", "--capacity", "8")
    assert ended.code == 3
    assert f"{path}{problem}" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("policy", "capacity", "problem"),
    [
        ("lur", "8", "did you mean 'lru'?"),
        ("clock:bits=0", "8", "bits: expected 1 to 8"),
        ("marconi", "8", "eviction Marconi: this eviction policy needs prefixes"),
        ("lru", "many", "--capacity: expected a size"),
        ("lru", "-1", "--capacity"),
        ("s3fifo:rules=mine", "8", "rules: expected paper or libcachesim"),
    ],
)
def test_bad_flags_are_one_line(
    policy: str, capacity: str, problem: str, milepost: Milepost, stream: Path
) -> None:
    ended = milepost("objects", stream, "--policy", policy, "--capacity", capacity)
    assert ended.code == 2
    assert problem in ended.err
    assert ended.err.count("\n") == 1


def test_a_missing_file(milepost: Milepost, tmp_path: Path) -> None:
    assert milepost("objects", tmp_path / "no", "--policy", "lru", "--capacity", "8").code == 3
    assert milepost("objects", tmp_path, "--policy", "lru", "--capacity", "8").code == 3
