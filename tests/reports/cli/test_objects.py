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
    results = [milepost("objects", path, *flags).json for path in (stream, parquet)]
    counts = {"requests": 5, "hits": 1, "misses": 4, "requested_bytes": 19, "hit_bytes": 3}
    counts |= {"peak_bytes": 8, "warmup_requests": 0}
    words = {"answer": "Hits: 20.0 % (1 / 5) of the requests.", "caveats": [], "notes": []}
    assert results[0] == results[1] == counts | words
    ended = milepost(
        "objects", stream, "--policy", "belady", "--capacity", "2", "--uniform", "--json"
    )
    assert (ended.json["hits"], ended.json["misses"], ended.json["hit_bytes"]) == (2, 3, 2)


def test_people_see_shares_with_their_parts(milepost: Milepost, stream: Path) -> None:
    output = milepost("objects", stream, "--policy", "fifo", "--capacity", "1 KiB").out
    assert "40.0 % (2 / 5)" in output
    assert "36.8 % (7 / 19)" in output


@pytest.mark.parametrize(
    ("policy", "hits"), [("sieve", 11469), ("s3fifo:rules=libcachesim", 11629)]
)
def test_exact_against_the_reference(
    policy: str, hits: int, milepost: Milepost, shared: Path
) -> None:
    path = shared / "reference" / "object_cache" / "fixture_zipf.parquet"
    ended = milepost("objects", path, "--policy", policy, "--capacity", 261, "--uniform", "--json")
    assert (ended.json["hits"], ended.json["misses"]) == (hits, 20000 - hits)


def test_the_warm_up_is_a_share_of_the_requests(milepost: Milepost, stream: Path) -> None:
    stream.write_text("obj_id,size\na,10\nb,10\na,10\nb,10\n")
    flags = ("objects", stream, "--policy", "lru", "--capacity", "100", "--warmup")
    result = milepost(*flags, "0.5", "--json").json
    assert (result["hits"], result["requests"], result["warmup_requests"]) == (2, 2, 2)
    assert "2 after 2 of warm-up" in milepost(*flags, "0.5").out
    refused = milepost(*flags, "1")
    assert refused.code == 2
    assert "--warmup: expected 0 to 0.9, found 1" in refused.err


def test_op_count_repeats_a_request(milepost: Milepost, stream: Path) -> None:
    stream.write_text("obj_id,size,op_count,ttl\na,10,3,1\nb,10,1,1\na,10,4,1\n")
    ended = milepost("objects", stream, "--policy", "lru", "--capacity", "100")
    assert "75.0 % (6 / 8)" in ended.out
    assert "op_count: 3 rows are 8 requests" in ended.err
    assert "columns that are not used: ttl" in ended.err


def test_an_object_may_change_its_size(milepost: Milepost, stream: Path) -> None:
    stream.write_text("obj_id,size\na,3\nb,3\nb,7\na,3\n")
    ended = milepost("objects", stream, "--policy", "lru", "--capacity", "10")
    assert "50.0 % (2 / 4)" in ended.out
    assert "1 request found an object with another size than before" in ended.err


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
        (b"obj_id,size,op_count\na,3,0\n", ":2: field 'op_count': expected whole requests"),
        (b"obj_id,size,op_count\na,3,150000000\nb,3,150000000\n", "found 300,000,000"),
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
        ("marconi", "8", "eviction MarconiEviction: this eviction policy needs prefixes"),
        ("lru", "many", "--capacity: expected a size"),
        ("lru", "-1", "--capacity"),
        ("s3fifo:rules=mine", "8", "unknown parameter 'rules'"),
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
