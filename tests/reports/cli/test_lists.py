from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from policies.registry import KINDS
from tests.reports.cli.conftest import Milepost


def test_policies_lists_every_plug_in(milepost: Milepost) -> None:
    listed = {(p["kind"], p["name"]) for p in milepost("policies", "--json").json["policies"]}
    assert listed == {(kind, name) for kind, row in KINDS.items() for name in row.classes}
    output = milepost("policies").out
    for _, name in listed:
        assert name in output


def test_one_policy_in_detail(milepost: Milepost) -> None:
    (policy,) = milepost("policies", "block", "--json").json["policies"]
    assert policy["usage"] == "block:size="
    assert policy["parameters"][0]["required"] is True
    assert "required" in milepost("policies", "block:size=64").out


def test_profiles_tell_kind_source_and_range(milepost: Milepost) -> None:
    profiles = {p["name"]: p for p in milepost("profiles", "--json").json["profiles"]}
    assert profiles["qwen3.5-9b-h200"]["kind"] == "composed"
    assert profiles["qwen3.5-9b-h200"]["valid_n_max"] > 0
    assert "composed" in milepost("profiles").out
    output = milepost("profiles", "analytic:model=qwen3.5-27b,gpu=h200").out
    assert "analytic" in output
    assert "valid range" in output


def test_one_profile_in_detail(milepost: Milepost, tmp_path: Path) -> None:
    output = milepost("profiles", "show", "qwen3.5-9b-h200").flat
    assert output == milepost("profiles", "qwen3.5-9b-h200").flat
    for part in ("composed", "floor", "4.77 ms", "8,192 tokens", "the whole model was not timed"):
        assert part in output
    (row,) = milepost("profiles", "show", "qwen3.5-9b-h200:kv=0.5", "--json").json["profiles"]
    assert row["kv_bytes_per_token"] == 16_384
    assert row["kv_compression"] == "50 % of its bytes"
    assert "Lossy" in milepost("profiles", "show", "qwen3.5-9b-h200:kv=0.5").out
    path = tmp_path / "page.html"
    assert milepost("profiles", "show", "qwen3.5-9b-h200", "--out", path).code == 0
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    "arguments", [("show",), ("a", "b"), ("show", "a", "b"), ("--out", "x.html"), ("show", "x.pt")]
)
def test_profiles_that_are_not_one_name(arguments: tuple[str, ...], milepost: Milepost) -> None:
    ended = milepost("profiles", *arguments)
    assert ended.code == (3 if "x.pt" in arguments else 2)
    assert ended.err.count("\n") == 1


def test_a_lossy_run_says_so(milepost: Milepost) -> None:
    flags = ("--set", "workload.requests=50", "--profile", "qwen3.5-9b-h200:kv_budget=512")
    ended = milepost("run", *flags, "--capacity", "2 GiB", "--quiet")
    assert ended.code == 0
    text = " ".join(ended.out.split())
    assert "qwen3.5-9b-h200:kv_budget=512 (composed), queue server" in text
    assert "KV keeps 512 tokens a layer, held with each checkpoint; states are exact" in text


def test_lossy_states_are_told_wherever_the_profile_is(milepost: Milepost, tmp_path: Path) -> None:
    name, loss = "qwen3.5-9b-h200:state=int8", "KV is exact; states are kept in int8"
    (row,) = milepost("profiles", "show", name, "--json").json["profiles"]
    assert row["state_compression"] == "kept in int8"
    assert f": {loss}. Answers differ" in " ".join(milepost("profiles", "show", name).out.split())
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        '[workload]\nrequests = 200\n[policy]\nplacer = "branch"\n'
        f'[model]\nprofile = "{name}"\n[grid]\n"cache.capacity" = ["4 GiB"]\n'
    )
    assert loss in " ".join(milepost("run", str(study), "--capacity", "1 GiB", "-q").out.split())
    milepost("sweep", str(study), "--out", str(out), "-q", "--jobs", "1")
    caveat = f"Lossy, with the profile {name}: {loss}."
    assert caveat in unescape((out / "report.html").read_text())
    target = ("--target", "token_hit_rate>=1%", "--out", str(tmp_path / "least"), "-q")
    milepost("capacity", str(study), *target, "--jobs", "1")
    page = unescape((tmp_path / "least" / "capacity.html").read_text())
    assert caveat in page
    assert "states are compressed already" in page  # and not once more


@pytest.mark.parametrize("command", ["policies", "profiles"])
def test_an_unknown_name_is_one_line(command: str, milepost: Milepost) -> None:
    ended = milepost(command, "x\x1b[31m")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert "\x1b" not in ended.err


def test_doctor(milepost: Milepost) -> None:
    versions = milepost("doctor", "--json").json
    assert versions["numpy"][0].isdigit()
    assert "working folder" in milepost("doctor").out


def test_a_generated_trace_can_be_read_back(milepost: Milepost, tmp_path: Path) -> None:
    written = []
    for name in ("t.jsonl", "t.jsonl.gz", "t.parquet"):
        flags = ("--out", tmp_path / name, "--requests", 50, "--seed", 4, "--json")
        written.append(milepost("trace", "generate", *flags).json)
        flags = () if name == "t.parquet" else ("--block", 64)
        inspection = milepost("trace", "inspect", tmp_path / name, *flags, "--json").json
        assert inspection["requests"] == 50
        assert inspection["prompt_tokens"] == written[-1]["prompt_tokens"]
        assert inspection["end_only_saved_tokens"] <= inspection["ideal_saved_tokens"]
        assert inspection["ideal_saved_tokens"] > 0
    assert len({entry["prompt_tokens"] for entry in written}) == 1


def test_the_same_seed_gives_the_same_file(milepost: Milepost, tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz", tmp_path / "c.jsonl.gz"]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        milepost("trace", "generate", "--out", file, "--requests", 30, "--seed", seed)
    a, b, c = (file.read_bytes() for file in files)
    assert a == b
    assert a != c


def test_inspect_prints_shares_with_their_parts(milepost: Milepost, trace_file: Path) -> None:
    output = milepost("trace", "inspect", trace_file).flat
    assert "40.3 % of the prompt tokens (1,023 of 2,536)" in output
    assert milepost("trace", "inspect", trace_file, "--on-bad-line", "maybe").code == 2


def test_convert_keeps_every_request(milepost: Milepost, trace_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    assert milepost("trace", "convert", trace_file, "--out", out).code == 0
    first, second = (milepost("run", "--trace", file, "--json").json for file in (trace_file, out))
    assert first["saved_tokens"] == second["saved_tokens"]
    ended = milepost("trace", "convert", trace_file, "--out", tmp_path / "t.csv")
    assert ended.code == 2
    assert ".parquet" in ended.err


def test_validate_tells_errors_from_warnings(
    milepost: Milepost, trace_file: Path, tmp_path: Path
) -> None:
    ended = milepost("trace", "validate", trace_file, "--json")
    assert (ended.code, ended.json["valid"]) == (0, True)
    rows = trace_file.read_text().splitlines()
    (tmp_path / "odd.jsonl").write_text("\n".join(reversed(rows)))
    ended = milepost("trace", "validate", tmp_path / "odd.jsonl", "--json")
    assert (ended.code, ended.json["valid"]) == (0, True)
    assert ended.json["anomalies"]
    (tmp_path / "bad.jsonl").write_text("\n".join([*rows, "{"]))
    ended = milepost("trace", "validate", tmp_path / "bad.jsonl", "--json")
    assert (ended.code, ended.json["valid"]) == (3, False)
    assert milepost("trace", "validate", tmp_path / "bad.jsonl").code == 3
    assert milepost("trace", "validate", tmp_path / "none.jsonl").code == 3


def test_unwritable_places_are_one_line(milepost: Milepost) -> None:
    ended = milepost("trace", "generate", "--out", "/dev/null/t.jsonl", "--requests", 5)
    assert ended.code == 2
    assert ended.err.count("\n") == 1
