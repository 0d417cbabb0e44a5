from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports.cli import exit_code
from simulator.base.errors import DataError, UsageError
from tests.reports.cli.conftest import COMMAND, Milepost

HEAVY = ("scipy", "polars", "altair", "torch", "simpy", "numpy")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom reports.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as ended:\n    assert not ended.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"
    assert "milepost" in ended.stdout.lower()


def test_every_command_has_help(milepost: Milepost) -> None:
    ended = milepost("--help")
    commands = (
        *("run", "sweep", "compare", "report", "place", "objects"),
        *("policies", "profiles", "calibrate", "doctor", "trace"),
    )
    for command in commands:
        assert f"  {command} " in ended.out
        assert milepost(command, "--help").code == 0
    for command in ("inspect", "validate", "generate", "convert"):
        assert milepost("trace", command, "--help").code == 0


def test_no_command_prints_the_help(milepost: Milepost) -> None:
    ended = milepost()
    assert ended.code == 0
    assert "Commands:" in ended.out


@pytest.mark.parametrize(
    "arguments",
    [["rum"], ["run", "--plaicer", "last"], ["run", "--block", "many"], ["sweep"], ["trace"]],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(
    arguments: list[str], milepost: Milepost
) -> None:
    ended = milepost(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


def raiser(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("no"), 2, "error: no\n"),
        (DataError("f", "bad", line=3, field="x"), 3, "error: f:3: field 'x': bad\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (OSError(28, "No space left on device"), 2, "error: No space left on device\n"),
        (PermissionError(13, "Permission denied", "/x"), 2, "error: /x: Permission denied\n"),
        (ZeroDivisionError("a\nb\x1b[31m"), 1, None),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, line: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(lambda: raiser(error)) == code
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "\x1b" not in errors
    assert line is None or errors == line


def test_a_bug_shows_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILEPOST_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        exit_code(lambda: raiser(ZeroDivisionError()))


def test_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [*COMMAND, "policies", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_full_disk_behind_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123  (a device, not a path to open)
        ended = subprocess.run(
            [*COMMAND, "policies", "--json"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr == b"error: No space left on device\n"


def test_closed_streams_are_no_error() -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$@" >&- 2>&-', "sh", *COMMAND, "policies"], check=False, capture_output=True
    )
    assert ended.returncode == 0


def test_a_name_that_is_no_text_is_one_line(milepost: Milepost, tmp_path: Path) -> None:
    trace = tmp_path / os.fsdecode(b"\xff\x1b[31m.jsonl")
    trace.write_text('{"input_length": 9, "output_length": 1, "hash_ids": [1]}\n')
    copy = tmp_path / os.fsdecode(b"\xfe\x1b[31m\n.parquet")
    ended = milepost("trace", "convert", trace, "--out", copy)
    assert (ended.code, ended.out.count("\n"), "\x1b" in ended.out) == (0, 1, False)
    ended = milepost("trace", "inspect", copy)
    assert (ended.code, "expected a file name in UTF-8" in ended.err) == (3, True)
    ended = milepost("run", "--trace", trace)
    assert (ended.code, "--trace: 'workload.trace': expected UTF-8" in ended.err) == (2, True)


@pytest.mark.parametrize("command", [["run", "--seed", "x"], ["sweep", "x", "--jobs", "0"]])
def test_flags_are_refused_in_plain_words(command: list[str], milepost: Milepost) -> None:
    ended = milepost(*command)
    assert ended.code == 2
    assert ": expected " in ended.err
    assert "Input" not in ended.err
