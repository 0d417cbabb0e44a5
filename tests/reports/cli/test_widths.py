"""What commands print in a narrow terminal: every column, folded and not cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost

SMALL = ("--set", "workload.requests=200", "--set", "workload.documents=5", "-q")
NAMED = "a-trace-whose-name-is-longer-than-a-column-of-any-table-can-be.jsonl"
LONG = "optimal:budget=2,window=123456,replan=50"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / NAMED
    rows = [
        {"timestamp": n, "input_length": 512, "output_length": 9, "hash_ids": [n % 5]}
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table_lines(text: str) -> list[str]:
    """Return the lines of tables; sentences are not folded, as a terminal does that."""
    return [line for line in text.splitlines() if line[:1] == " " or "  " in line.strip()]


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    ("words", "whole"),
    [
        (("policies",), ["adaptive", "lru", "always"]),
        (("policies", "adaptive"), ["adaptive"]),
        (("profiles",), ["composed", "KV a", "state"]),
        (("profiles", "show", "qwen3.5-9b-h200"), ["prefill without", "16,384 tokens"]),
        (("trace", "generate", "--list"), ["generator", "drift", "arrivals"]),
        (("trace", "fetch"), ["licence", "sha256"]),
        (("trace", "inspect", "TRACE"), ["requests", "sharpest", "p99"]),
        (("trace", "validate", "TRACE"), []),
        (("place", "--from-trace", "TRACE", "--profile", "qwen3.5-9b-h200"), ["best in time"]),
        (("run", "--trace", "TRACE", "--placer", LONG), ["of prompt tokens", "checkpoints"]),
        (("run", *SMALL, "--capacity", "1 GiB", "--placer", LONG), ["of prompt tokens"]),
        (
            ("drift", "--trace", "TRACES", "--window", "20,40", "-q"),
            ["Less than clairvoyant", "rewritten", "Regret"],
        ),
        (("doctor",), ["python"]),
    ],
)
def test_tables_fold_and_keep_their_columns(
    milepost: Milepost,
    monkeypatch: pytest.MonkeyPatch,
    trace: Path,
    width: int,
    words: tuple[str, ...],
    whole: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    if "TRACES" in words:  # of more requests
        words = ("drift", "--generator", "chats:count=3", "--requests", "600", *words[3:])
    ended = milepost(*(trace if word == "TRACE" else word for word in words))
    assert ended.code == 0, ended.err
    lines = table_lines(ended.out)
    assert max(map(len, lines), default=0) <= width
    assert "…" not in ended.out
    text = " ".join(" ".join(lines).split())
    for name in whole:
        assert all(word in text for word in name.split())


def test_two_runs_with_long_names(
    milepost: Milepost, monkeypatch: pytest.MonkeyPatch, trace: Path, tmp_path: Path
) -> None:
    for name, placer in (("a", LONG), ("b", "branch")):
        flags = ("--placer", placer, "--out", tmp_path / name, "-q")
        assert milepost("run", "--trace", trace, *flags).code == 0
    for width in (60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        output = milepost("compare", tmp_path / "a", tmp_path / "b").out
        assert max(map(len, table_lines(output))) <= width
        assert "…" not in output
        assert all(part in output for part in ("optimal:budget", "branch"))
        for heading in ("B is", "B - A", "95 % interval", "of A", "Holm p"):
            assert all(word in output for word in heading.split())
