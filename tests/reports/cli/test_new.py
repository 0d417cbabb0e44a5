"""Studies to begin with."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost

KINDS = ("comparison", "capacity", "drift")
COMMANDS = {
    "comparison": ["sweep", "--jobs", "1"],
    "capacity": ["capacity", "--target", "token_hit_rate>=1%", "--no-sensitivity", "--jobs", "1"],
    "drift": ["drift"],
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a tiny trace, but long enough for a drift study."""
    rows = [
        {
            "timestamp": 500 * n + n % 7,
            "input_length": 1536,
            "output_length": 1,
            "hash_ids": [n % 3, 10 + n % 5, 100 + n],
        }
        for n in range(700)
    ]
    path = tmp_path / "tiny.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize("kind", KINDS)
def test_each_runs_on_a_trace_of_one_s_own(
    kind: str, trace: Path, milepost: Milepost, tmp_path: Path
) -> None:
    study = tmp_path / "my study.toml"
    created = milepost("new", kind, study)
    assert (created.code, "my study.toml" in created.out) == (0, True)
    command, *more = COMMANDS[kind]
    out = tmp_path / "out"
    ended = milepost(command, study, "--trace", trace, *more, "--out", out, "--json", "--quiet")
    assert ended.code == 0, ended.err
    assert out.is_dir()


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_sound_as_it_is_and_says_how_to_run_it(
    kind: str, milepost: Milepost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert milepost("new", kind).code == 0
    text = (tmp_path / f"{kind}.toml").read_text()
    assert text == milepost("new", kind, "-").out
    assert f"milepost {COMMANDS[kind][0]} {kind}.toml --trace my_trace.jsonl" in text
    assert max(map(len, text.splitlines())) <= 100
    assert tomllib.loads(text)["grid"]["policy.placer"]
    if kind != "drift":
        words = COMMANDS[kind][1:] if kind == "capacity" else []
        command = COMMANDS[kind][0]
        assert milepost(command, f"{kind}.toml", *words, "--dry-run").code == 0


def test_what_is_there_is_left_alone(milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    ended = milepost("new", "drift", path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {path}: is there already, and is left as it is\n"
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["capacty"], "did you mean 'capacity'?"),
        (["drift", "/no/such/folder/d.toml"], "cannot be written"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str, milepost: Milepost) -> None:
    ended = milepost("new", *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err
