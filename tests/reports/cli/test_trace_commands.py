"""`milepost trace inspect --page`, `trace validate` and `trace fetch` as people use them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost
from workloads.fetching.public_traces import MIRROR, TRACES


def test_inspect_tells_its_figures_with_units(milepost: Milepost, trace_file: Path) -> None:
    output = milepost("trace", "inspect", trace_file).flat
    for figure in (
        "40.3 % of the prompt tokens (1,023 of 2,536)",  # 512 of the second, 511 of the third
        "granularity",
        "512 tokens",
        "branch",
        "requests/s",
        "cv of gaps 0.33",  # 60 s and 30 s
    ):
        assert figure in output


def test_inspect_writes_a_page_beside_the_json(
    milepost: Milepost, trace_file: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    ended = milepost("trace", "inspect", trace_file, "--page", page, "--json")
    assert ended.json["coordinates"]["all"]["hits"] == 2
    assert ended.json["lru"]["tokens_for_share"]["90%"] > 0
    assert ended.err.strip() == f"page: {page}"
    assert "40.3 % of the prompt tokens" in page.read_text()
    ended = milepost("trace", "inspect", trace_file, "--page", tmp_path / "none" / "page.html")
    assert ended.code == 2
    assert ended.err.count("\n") == 1


def test_a_trace_of_nothing_is_one_line(milepost: Milepost, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    ended = milepost("trace", "inspect", tmp_path / "empty.jsonl")
    assert ended.code == 3
    assert ended.err.count("\n") == 1


def test_public_traces_are_listed_with_size_licence_source_and_hash(milepost: Milepost) -> None:
    ended = milepost("trace", "fetch")
    assert ended.code == 0
    assert all(name in ended.out for name in TRACES)
    listed = {entry["name"]: entry for entry in milepost("trace", "fetch", "--json").json["traces"]}
    for name, trace in TRACES.items():
        assert listed[name]["sha256"] == trace.sha256
        assert listed[name]["size_bytes"] == trace.size_bytes
        assert listed[name]["licence"] == trace.licence
        assert trace.commit in listed[name]["url"]


def test_without_a_network_fetch_says_so(
    milepost: Milepost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("requests", reason="the extra `fetch` is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{free.getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        ended = milepost("trace", "fetch", "azure-2023-code", "--out", tmp_path / "traces")
    assert ended.code == 2
    assert "no network" in ended.err
    assert ended.err.count("\n") == 1


def test_an_unknown_public_trace_is_guessed(milepost: Milepost) -> None:
    ended = milepost("trace", "fetch", "mooncake-conversatoin")
    assert ended.code == 2
    assert "did you mean 'mooncake-conversation'?" in ended.err


def test_isolation_is_a_flag_of_commands_that_read_a_trace(
    milepost: Milepost, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    row = '{"input_length": 1024, "output_length": 1, "hash_ids": [7, 8], "cache_salt": "%s"}\n'
    path.write_text("".join(row % salt for salt in "abab"))
    document = milepost("trace", "inspect", path, "--json").json
    assert document["ideal_saved_tokens"] == 2 * 1023
    assert "prefixes are kept apart by cache_salt (2 values)" in document["notes"]
    document = milepost("trace", "inspect", path, "--json", "--isolate", "none").json
    assert document["ideal_saved_tokens"] == 3 * 1023
    for flags, saved in (((), 2 * 1023), (("--isolate", "none"), 3 * 1023)):
        command = ("run", "--trace", path, "--rate", "1", "--server", "instant", "--json")
        document = milepost(*command, "--placer", "dense", *flags).json
        assert (document["saved_tokens"] > 2048) == (saved > 2048)
    saved_trace = tmp_path / "t.parquet"
    assert milepost("trace", "convert", path, "--out", saved_trace).code == 0
    ended = milepost("trace", "inspect", saved_trace, "--isolate", "none")
    assert ended.code == 2
    assert ended.err.startswith("error: --isolate: a saved trace")
    ended = milepost("trace", "validate", path, "--isolate", "tokens")
    assert ended.code == 2
    assert ended.err.startswith("error: --isolate: unknown 'tokens'")


def test_inspect_tells_working_sets_of_a_profile(milepost: Milepost, trace_file: Path) -> None:
    plain = milepost("trace", "inspect", trace_file, "--json").json
    document = milepost(
        "trace", "inspect", trace_file, "--json", "--profile", "qwen3.5-9b-h200"
    ).json
    memory = document.pop("memory")
    assert document == plain
    sets = plain["working_sets"]["sets"]
    for each, held in zip(sets, memory["working_sets_gib"], strict=True):
        kv, states = memory["kv_bytes_per_token"], memory["state_bytes"]
        peak = max(
            t * kv + p * states for t, p in zip(each["tokens"], each["prompts"], strict=True)
        )
        assert held["peak"] == peak / 2**30
    ended = milepost("trace", "inspect", trace_file, "--profile", "none-such")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
