from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

from tests.reports.cli.conftest import Milepost

KEYS = {
    "requests": {"total", "finished", "rejected", "unfinished"},
    "ttft_seconds": {"mean", "p50", "p90", "p99"},
    "lost_tokens": {
        "never_seen",
        "last_token",
        "in_flight",
        "not_admitted",
        "kv_evicted",
        "state_evicted",
        "not_checkpointed",
        "alignment",
    },
    "checkpoints": {"written", "peak_count", "peak_bytes", "mean_per_request"},
    "kv": {"peak_bytes", "stranded_bytes_mean"},
}
PLAIN_KEYS = {
    "prompt_tokens",
    "saved_tokens",
    "recomputed_tokens",
    "token_hit_rate",
    "simulated_seconds",
    "wall_seconds",
}
SMALL = ("--set", "workload.requests=120", "--set", "workload.documents=5")


def test_the_built_in_workload_needs_no_flag(milepost: Milepost) -> None:
    ended = milepost("run", *SMALL, "--json")
    assert (ended.code, ended.err) == (0, "")
    summary = ended.json
    assert set(summary) >= PLAIN_KEYS | set(KEYS)
    for key, names in KEYS.items():
        assert set(summary[key]) >= names
    assert summary["requests"]["total"] == 120
    assert summary["saved_tokens"] + summary["recomputed_tokens"] == summary["prompt_tokens"]
    assert sum(summary["lost_tokens"].values()) == summary["recomputed_tokens"]
    assert summary["scenario"]["policy"]["placer"] == "adaptive"


def test_a_hand_worked_trace(milepost: Milepost, trace_file: Path) -> None:
    """Sharing 512 of 1,024, then 511 of 512: the last token is always recomputed."""
    flags = ("--server", "instant", "--set", "model.alignment=1", "--json")
    summary = milepost("run", "--trace", trace_file, "--placer", "dense", *flags).json
    assert summary["prompt_tokens"] == 1000 + 1024 + 512
    assert summary["saved_tokens"] == 512 + 511
    assert summary["lost_tokens"]["last_token"] == 1
    assert summary["token_hit_rate"] == 1023 / 2536


def test_the_best_possible_of_a_hand_worked_trace(milepost: Milepost, trace_file: Path) -> None:
    """Only the second prompt can resume: a block of the third ends beyond its last token."""
    flags = ("--trace", trace_file, "--server", "instant", "--set", "model.alignment=1")
    assert milepost("run", *flags, "--json").json["bound_saved_tokens"] == 512
    output = milepost("run", *flags, "--placer", "branch:first=1").out
    assert "of the best possible" in output
    assert " / 512)" in output
    late = milepost("run", *flags, "--warmup", 0.7, "--json").json
    assert late["bound_saved_tokens"] == 0


def test_nothing_exceeds_the_best_possible_where_block_and_alignment_differ(
    milepost: Milepost, tmp_path: Path
) -> None:
    """The state wanted at 1,536 is stored at 1,056, from where all but the first resume."""
    trace = tmp_path / "five.jsonl"
    row = '{"timestamp": %d, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]}\n'
    trace.write_text("".join(row % (1000 * number) for number in range(5)))
    flags = ("--trace", trace, "--capacity", "1 GiB", "--server", "instant")
    for placer in ("last", "clairvoyant", "dense"):
        asked = (*flags, "--set", "model.alignment=528", "--placer", placer)
        assert "(4,224 / 7,680)" in milepost("run", *asked).out
        assert ("100.0 % (4,224 / 4,224)" in milepost("run", *asked).out) == (placer != "dense")


def test_one_seed_one_result(milepost: Milepost) -> None:
    def figures(seed: int) -> str:
        summary = milepost("run", *SMALL, "--seed", seed, "--json").json
        del summary["wall_seconds"]
        return json.dumps(summary)

    assert figures(1) == figures(1)
    assert figures(1) != figures(2)


def test_the_summary_names_numerator_denominator_and_units(milepost: Milepost) -> None:
    ended = milepost("run", *SMALL, "--capacity", "2 GiB")
    assert ended.code == 0
    saved = next(line for line in ended.out.splitlines() if "saved tokens" in line)
    assert "%" in saved
    assert " / " in saved
    assert "p99 n/a (n < 368)" in ended.out
    assert "of 2.0 GiB" in ended.out
    assert "no earlier prompt began like this" in ended.out


def test_checking_every_request_changes_nothing(milepost: Milepost) -> None:
    flags = ("run", *SMALL, "--capacity", "1 GiB", "--json")
    plain, checked = milepost(*flags).json, milepost(*flags, "--check").json
    del plain["wall_seconds"], checked["wall_seconds"]
    assert plain == checked


def test_a_trace_without_times_is_told_its_rate(milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"input_length": 600, "output_length": 1, "hash_ids": [1, 2]}\n' * 3)
    ended = milepost("run", "--trace", path, "--json")
    assert "note: the trace has no arrival times: Poisson arrivals at 1 requests/s" in ended.err
    assert any("Poisson" in note for note in ended.json["trace"]["notes"])
    assert milepost("run", "--trace", path, "--rate", "9").code == 0


def test_skipped_lines_are_counted(milepost: Milepost, trace_file: Path) -> None:
    with trace_file.open("a") as file:
        file.write("{broken\n")
    ended = milepost("run", "--trace", trace_file)
    assert ended.code == 3
    assert ended.err.startswith(f"error: {trace_file}:4: ")
    ended = milepost("run", "--trace", trace_file, "--on-bad-line", "skip", "--json")
    assert ended.code == 0
    assert any("1" in note and "skip" in note for note in ended.json["trace"]["notes"])


def test_what_out_holds(milepost: Milepost, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = ("run", *SMALL, "--capacity", "2 GiB", "--json", "--out", out)
    summary = milepost(*flags).json
    assert sorted(path.name for path in out.iterdir()) == [
        "records.parquet",
        "study.resolved.toml",
        "summary.json",
    ]
    records = pl.read_parquet(out / "records.parquet")
    assert len(records) == 120
    assert records["saved_tokens"].sum() == summary["saved_tokens"]
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    milepost(*flags)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    again = milepost("run", out / "study.resolved.toml", "--json").json
    assert again["saved_tokens"] == summary["saved_tokens"]


def test_a_foreign_folder_is_left_alone(milepost: Milepost, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    ended = milepost("run", *SMALL, "--out", tmp_path)
    assert ended.code == 2
    assert "thesis.doc" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing_half_written(
    milepost: Milepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    ended = milepost("run", *SMALL, "--out", tmp_path / "out")
    assert ended.code == 2
    assert ended.err.endswith("records.parquet: cannot be written: No space left on device\n")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_study_of_many_cells_is_for_sweep(milepost: Milepost, study: Path) -> None:
    ended = milepost("run", study)
    assert ended.code == 2
    assert "12 cells" in ended.err
    assert "policy.placer, cache.capacity" in ended.err
    flags = ("--placer", "last", "--capacity", "1 GiB", "--json")
    assert milepost("run", study, *flags).json["requests"]["total"] == 108  # a tenth is warm-up


def test_dry_run_simulates_nothing(milepost: Milepost, tmp_path: Path) -> None:
    ended = milepost("run", *SMALL, "--dry-run", "--out", tmp_path / "out")
    assert ended.code == 0
    assert "120 requests" in ended.out
    assert not (tmp_path / "out").exists()
    assert milepost("run", *SMALL, "--dry-run", "--json").json["trace"]["requests"] == 120


@pytest.mark.parametrize(
    ("flags", "code", "line"),
    [
        (("--placer", "lst"), 2, "did you mean 'last'?"),
        (("--placer", "block:size=0"), 2, "--placer: placer 'block:size=0': size"),
        (("--placer", "block:sise=3"), 2, "did you mean 'size'?"),
        (("--eviction", "lruu"), 2, "did you mean 'lru'?"),
        (("--admission", "alway"), 2, "--admission: admission 'alway'"),
        (("--profile", "qwen"), 2, "unknown profile 'qwen'"),
        (("--capacity", "-1"), 2, "--capacity: "),
        (("--capacity", "nan"), 2, "--capacity: "),
        (("--set", "cache.capacity=true"), 2, "expected a size such as '8 GiB'"),
        (("--set", "study.replications=0"), 2, "'study.replications': expected greater than"),
        (("--set", "workload.documents=-3"), 2, "--set: 'workload.documents': expected an integer"),
        (("--set", "grid.policy.placer=[]"), 2, "expected a list of at least 1 item, found []"),
        (("--capacity", "9e30 GiB"), 2, "--capacity: "),
        (("--warmup", "inf"), 2, "--warmup: 'study.warmup': expected a finite number"),
        (("--warmup", "0.95"), 2, "--warmup: 'study.warmup': expected less than or equal to 0.9"),
        (("--seed", "-1"), 2, "--seed: "),
        (("--rate", "nan"), 2, "--rate: "),
        (("--server", "fast"), 2, "--server: 'server.kind': expected 'queue' or 'instant'"),
        (("--set", "cach.capacity=1"), 2, "did you mean 'cache.capacity'?"),
        (("--set", "workload.drift=2"), 2, "drift"),
        (("--set", "nonsense"), 2, "expected key=value"),
        (("--trace", "/does/not/exist"), 3, "/does/not/exist: cannot be read"),
        (("--trace", "/"), 3, "looks like no known trace format"),
        (("--out", "/dev/null/x"), 2, "cannot be written"),
        (("/does/not/exist.toml",), 2, "cannot be read"),
    ],
)
def test_bad_input_is_one_line(
    flags: tuple[str, ...], code: int, line: str, milepost: Milepost
) -> None:
    ended = milepost("run", *flags)
    assert ended.code == code
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert line in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\x00\x01\x02" * 50, b"\x1f\x8b\x08\x00broken", b"PAR1 not really"]
)
def test_a_file_that_is_no_trace(content: bytes, milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    ended = milepost("run", "--trace", path)
    assert ended.code == 3
    assert ended.err.count("\n") == 1


def test_a_profile_that_does_not_validate(milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"schema_version": 1}')
    ended = milepost("run", "--profile", path)
    assert ended.code == 3
    assert ended.err.startswith(f"error: {path}: ")


def test_hostile_names_reach_the_terminal_escaped(milepost: Milepost, tmp_path: Path) -> None:
    name = "a\x1b[31m[bold]\n.jsonl"
    ended = milepost("run", "--trace", tmp_path / name)
    assert ended.code == 3
    assert "\x1b" not in ended.err
    assert ended.err.count("\n") == 1
    (tmp_path / name).write_text('{"input_length": 9, "output_length": 1, "hash_ids": [1]}\n')
    ended = milepost("run", "--trace", tmp_path / name)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert "[bold]" in ended.out
