"""The checker of code blocks sees what would fail for a reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.version import version
from tests.conftest import ROOT
from tests.docs.fences import CodeBlock, code_blocks, documents
from tests.docs.running import BrokenBlockError, run_block
from tests.docs.shell import BadCommandError, check, commands_of, parse


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def block(language: str, text: str) -> CodeBlock:
    return CodeBlock(ROOT / "README.md", 1, language, "", text)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("milepost run --capasity '8 GiB'", "exit code 2"),
        ("milepost run --placer adaptve --set workload.requests=100", "exit code 2"),
        ("milepost run --trace my_trase.jsonl.gz", "exit code 3"),
        ("milepost sweeep studies/demo.toml", "exit code 2"),
        ("milepost prototype --plaser branch", "--plaser"),
        ("milepost prototype --passes many", "--passes"),
        ("milepost prototype --trace nothing.jsonl.gz", "no such file: nothing.jsonl.gz"),
        ("milepost trace fetch --aut traces", "--aut"),
        ("milepost trace fech", "fech"),
        ("milepost calibrate --model qwen3.5-9b --out x.json --budged 10m", "exit code 2"),
        ("python -m calibration --model qwen3.5-9b --out x.json --budged 10m", "--budged"),
        ("python -m studies.nothing", "no module studies.nothing"),
        ("python nothing.py", "no such file"),
        ("make tests", "no target"),
        ("pip install -e '.[calibrate]'", "no extra calibrate"),
        ("milepots run", "unknown program"),
    ],
)
def test_a_command_that_would_fail_is_told(command: str, problem: str) -> None:
    with pytest.raises(BadCommandError, match=problem):
        check(next(commands_of(command)))


def test_commands_that_are_not_run_pass_where_they_are_right() -> None:
    Path("here.jsonl").touch()
    parse(["prototype", "--trace", "here.jsonl", "--device", "cuda", "--out", "there"])
    parse(["trace", "fetch", "mooncake-conversation", "--out", "traces"])
    check(["python", "-m", "calibration", "--model", "qwen3.5-9b", "--out", "x.json"])
    check(["make", "docs"])
    check(["pip", "install", "-e", ".[text,calibration]"])


def test_commands_are_read_as_a_shell_reads_them() -> None:
    text = (
        "A=1 milepost run --capacity '8 GiB' \\\n  --json | jq .x  # why\n\n# nothing\nmake demo\n"
    )
    words = ["milepost", "run", "--capacity", "8 GiB", "--json"]
    assert list(commands_of(text)) == [words, ["make", "demo"]]


@pytest.mark.parametrize(
    ("language", "text", "problem"),
    [
        ("python", "1 / 0\n", "ZeroDivisionError"),
        ("python", "from workloads import open_traces\n", "ImportError"),
        ("toml", "[cache]\ncapacities = '8 GiB'\n", "capacities"),
        ("toml", "[cache\n", "TOML|toml|expected"),
        ("", "milepost run\n", "expected one of console"),
        ("sh", "milepost run\n", "expected one of console"),
        ("console", "milepost new nothing x.toml\n", "exit code 2"),
    ],
)
def test_a_block_that_is_not_what_it_says_is_told(language: str, text: str, problem: str) -> None:
    with pytest.raises(BrokenBlockError, match=problem):
        run_block(block(language, text), {})


def test_output_that_is_not_printed_is_told() -> None:
    shown = replace(block("console", "milepost --version\n"), output=f"milepost {version()}\n...\n")
    run_block(shown, {})
    with pytest.raises(BrokenBlockError, match=r"not in the output: 'milepost 9.9'"):
        run_block(replace(shown, output="milepost 9.9\n"), {})


def test_python_blocks_share_their_names() -> None:
    names: dict[str, object] = {}
    run_block(block("python", "x = 1\n"), names)
    run_block(block("python", "assert x == 1\n"), names)


def test_no_code_stands_outside_fences() -> None:
    """An indented block would never be run."""
    for document in documents():
        lines = document.read_text(encoding="utf-8").split("\n")
        inside = set()
        for each in code_blocks(document):
            inside |= set(range(each.line - 1, each.line + each.text.count("\n") + 1))
        for number, line in enumerate(lines):
            indented = line.startswith("    ") and number and not lines[number - 1].strip()
            assert not indented or number in inside, f"{document.name}:{number + 1}"
