"""`milepost trace slice`, `sample` and `merge` as people use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reports.cli.conftest import Milepost
from workloads.opening import open_trace


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Return 60 sessions of two turns, told by name, 10 s apart."""
    rows = [
        {
            "timestamp": 10_000 * session + 33_000 * turn,
            "input_length": 512 * (turn + 1),
            "output_length": 4,
            "hash_ids": [1000 * session + block for block in range(turn + 1)],
            "session_id": f"chat {session}",
        }
        for session in range(60)
        for turn in range(2)
    ]
    rows.sort(key=lambda row: int(str(row["timestamp"])))
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_slice_by_time_requests_and_sessions(
    milepost: Milepost, chats: Path, tmp_path: Path
) -> None:
    out = tmp_path / "part.parquet"
    ended = milepost("trace", "slice", chats, "--out", out, "--from", "1min", "--to", "2 min")
    assert (ended.code, ended.err) == (0, "")
    assert "12 requests" in ended.out
    assert "a part: arrivals from 60.0 s to 120 s; 12 of 120 requests" in ended.out
    assert "go on behind it" in ended.out
    assert open_trace(out).notes[-3].startswith("a part: ")
    for flags, requests in (
        (["--requests", "5"], 5),
        (["--requests", "-7:"], 7),
        (["--requests", "10:20"], 10),
        (["--sessions", "3"], 6),
        (["--session", "chat 7", "--session", "chat 8"], 4),
    ):
        as_json = milepost("trace", "slice", chats, "--out", out, *flags, "--json")
        assert as_json.json["requests"] == requests
        assert len(open_trace(out)) == requests


def test_a_part_is_written_as_its_name_says_and_the_same_again(
    milepost: Milepost, chats: Path, tmp_path: Path
) -> None:
    written = []
    for name in ("a.parquet", "b.parquet", "a.jsonl.gz", "b.jsonl.gz"):
        milepost("trace", "slice", chats, "--out", tmp_path / name, "--sessions", "10:20")
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert written[2] == written[3]
    again = open_trace(tmp_path / "a.jsonl.gz", block=512)
    assert len(again) == len(open_trace(tmp_path / "a.parquet")) == 20


def test_a_sample_tells_its_error(milepost: Milepost, chats: Path, tmp_path: Path) -> None:
    out = tmp_path / "sample.parquet"
    sampled = milepost("trace", "sample", chats, "--out", out, "--share", "30%", "--json").json
    assert sampled["requests"] == 2 * sampled["units"]["taken"] == len(open_trace(out))
    assert sampled["units"]["of"] == 60
    assert sampled["share"] == 0.3
    assert sampled["lru"]["plain"]["mean_points"] <= sampled["lru"]["plain"]["most_points"]
    assert "with SHARDS' correction" in open_trace(out).notes[-1]
    output = milepost("trace", "sample", chats, "--out", out, "--requests", "20", "--seed", "4").out
    assert "20 requests" in output
    assert "seed 4" in output
    assert "points in the mean" in output


def test_the_same_sessions_whatever_the_order_of_the_file(
    milepost: Milepost, chats: Path, tmp_path: Path
) -> None:
    backwards = tmp_path / "backwards.jsonl"
    backwards.write_text("".join(reversed(chats.read_text().splitlines(keepends=True))))
    samples = [
        milepost(
            "trace", "sample", path, "--out", tmp_path / "s.parquet", "--share", "0.3", "--json"
        )
        for path in (chats, backwards)
    ]
    assert samples[0].json["units"] == samples[1].json["units"]
    assert samples[0].json["lru"] == samples[1].json["lru"]


def test_a_merge_lays_traces_side_by_side(milepost: Milepost, chats: Path, tmp_path: Path) -> None:
    out = tmp_path / "both.parquet"
    ended = milepost("trace", "merge", chats, chats, "--out", out, "--offset", "1h")
    assert ended.code == 0
    assert "Nothing is shared between different traces" in ended.out
    whole = open_trace(out)
    assert whole.arrival_seconds is not None
    assert (len(whole), whole.arrival_seconds[120]) == (240, 3600)
    assert whole.labels == ("chats", "chats-2")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["slice", "FILE"], 2, "expected one way to cut"),
        (["slice", "FILE", "--requests", "5", "--from", "1s"], 2, "expected one way to cut"),
        (["slice", "FILE", "--requests", "five"], 2, "--requests: expected a range such as"),
        (["slice", "FILE", "--requests", "9" * 40], 2, "--requests: expected a range such as"),
        (["slice", "FILE", "--from", "1 week"], 2, "unknown unit 'week'"),
        (["slice", "FILE", "--from", "2s", "--to", "1s"], 2, "a time behind --from"),
        (["slice", "FILE", "--from", "3h"], 2, "no request arrives from 10,800 s to the end"),
        (["slice", "FILE", "--session", "chat 99"], 2, "unknown session 'chat 99'"),
        (["slice", "FILE", "--sessions", "500:"], 2, "no session is numbered so"),
        (["slice", "none.jsonl", "--sessions", "5"], 3, "none.jsonl"),
        (["sample", "FILE"], 2, "expected one of --share and --requests"),
        (["sample", "FILE", "--share", "0"], 2, "--share: expected above 0"),
        (["sample", "FILE", "--share", "200%"], 2, "--share: expected above 0"),
        (["sample", "FILE", "--share", "1e-9"], 2, "--share: expected a share"),
        (["sample", "FILE", "--requests", "1"], 2, "nothing is in a sample of 1 requests"),
        (["merge", "FILE"], 2, "expected two traces or more"),
        (
            ["merge", "FILE", "FILE", "--offset", "1", "--offset", "2", "--offset", "3"],
            2,
            "--offset",
        ),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    arguments: list[str], code: int, message: str, milepost: Milepost, chats: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    given: list[Any] = [chats if word == "FILE" else word for word in arguments]
    ended = milepost("trace", *given, "--out", out)
    assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)
    assert message in ended.err
    assert not out.exists()


@pytest.mark.parametrize("command", ["slice", "sample", "merge"])
def test_names_that_are_no_trace_are_refused_first(
    command: str, milepost: Milepost, tmp_path: Path
) -> None:
    ended = milepost("trace", command, "none.jsonl", "--out", tmp_path / "out.csv")
    assert ended.code == 2
    assert "expected a name that ends with" in ended.err


def test_answers_are_kept_in_parquet_and_their_loss_in_json_lines_is_said(
    milepost: Milepost, tmp_path: Path
) -> None:
    made = tmp_path / "made.parquet"
    milepost("trace", "generate", "--out", made, "--generator", "chats", "--requests", "60")
    outputs = []
    for name in ("part.parquet", "part.jsonl"):
        flags = ("--out", tmp_path / name, "--requests", "30")
        outputs.append(milepost("trace", "slice", made, *flags).out)
    assert "JSON lines hold no answers" not in outputs[0]
    assert "JSON lines hold no answers" in outputs[1]
    whole, part = open_trace(made), open_trace(tmp_path / "part.parquet")
    assert whole.after is not None
    assert part.after is not None
    ends = whole.tree.stop[whole.after[:30]].tolist()
    assert part.tree.stop[part.after].tolist() == ends
