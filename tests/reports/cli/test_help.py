"""Version, help by a word, what the shell completes, and how optional parts are installed."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib

import pytest

from simulator.base.installing import install_hint
from tests.conftest import ROOT
from tests.reports.cli.conftest import COMMAND, Milepost


def test_the_version_by_both_flags(milepost: Milepost) -> None:
    assert milepost("-V").out == milepost("--version").out
    assert re.fullmatch(r"milepost \d+\.\d+\S*\n", milepost("-V").out)


@pytest.mark.parametrize("words", [["run"], ["RUN"], ["trace", "Inspect"], ["trace"]])
def test_help_of_a_command(words: list[str], milepost: Milepost) -> None:
    ended = milepost("help", *words)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == milepost(*(word.lower() for word in words), "--help").out


def test_help_alone_is_that_of_all(milepost: Milepost) -> None:
    assert milepost("help").out == milepost("--help").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu"], "help: unknown command 'rnu'; did you mean 'run'?"),
        (["trace", "inspct"], "did you mean 'inspect'?"),
        (["run", "fast"], "unknown command 'fast'; run has none"),
    ],
)
def test_help_of_what_there_is_not(words: list[str], message: str, milepost: Milepost) -> None:
    ended = milepost("help", *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


def completed(line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    env = {**os.environ, **words, "_MILEPOST_COMPLETE": "complete_bash"}
    return subprocess.run(
        COMMAND, env=env, capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    ("line", "among"),
    [
        ("milepost swe", {"sweep"}),
        ("milepost sweep --placer ada", {"adaptive"}),
        ("milepost run --profile qwen3.5-9b", {"qwen3.5-9b-h200"}),
        ("milepost trace inspect --format moon", {"mooncake"}),
    ],
)
def test_the_shell_completes_names(line: str, among: set[str]) -> None:
    assert set(completed(line)) == among


def test_completion_for_a_shell(milepost: Milepost) -> None:
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = [
        subprocess.run(
            [*COMMAND, "--show-completion", shell],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        for shell in ("bash", "zsh", "fish")
    ]
    assert [each.returncode for each in shown] == [0, 0, 0]
    assert all("_MILEPOST_COMPLETE" in each.stdout for each in shown)
    assert "--install-completion" in milepost("--help").out


def test_hints_name_extras_that_there_are_and_the_clone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    sources = [
        path
        for folder in ("simulator", "policies", "workloads", "calibration", "reports", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md"}
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    asked = re.findall(r"install_hint\(['\"](\w+)['\"]\)", text)
    asked += re.findall(r"pip install -e '\.\[(\w+)\]'", text)
    assert set(asked) == {"calibration", "text", "fetch", "cluster"}
    assert set(asked) <= set(project["optional-dependencies"])
    assert re.findall(r"pip install ['\"]?milepost.*", text) == []
    assert install_hint("text") == f"pip install -e '.[text]' in the clone, {ROOT}"
