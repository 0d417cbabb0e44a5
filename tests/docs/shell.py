"""The commands of console blocks: run in this process, or held against their parsers alone."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from reports.cli import app, main
from tests.conftest import ROOT

# Commands that are not run, and why; their words are read by the parser all the same.
NOT_RUN = {
    ("prototype",): "needs torch and a minute",
    ("trace", "fetch"): "needs a network",
}
# Commands that are run with more words, by which they take seconds: words that a command begins
# with, words that must not stand in it, and what is appended. All lines that fit hold.
SMALLER: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (("trace", "from-stats"), (), ("--requests", "100")),
    (("run",), ("--trace", "--generator"), ("--set", "workload.requests=300")),
    (("run", "--generator"), (), ("--set", "workload.requests=300")),
    (("drift",), ("--trace",), ("--requests", "900")),
    (("drift", "studies/drift.toml"), ("--trace",), ("--replications", "2")),
    (("capacity",), (), ("--within", "0.2", "--no-sensitivity")),
    (("sweep", "studies/"), (), ("--dry-run",)),
    (("capacity", "studies/"), (), ("--dry-run",)),
    (("trace", "generate", "--"), ("--list",), ("--requests", "300")),
)
ALWAYS = (  # where the output is shown, too
    (("calibrate",), (), ("--dry-run",)),
    (("sweep",), (), ("--jobs", "1")),
    (("capacity",), (), ("--jobs", "1")),
)
MAY_MISS = ("capacity", "compare")  # a small trace may miss a target, with exit code 99
MISSED = 99
OUTPUTS = ("--out", "--page", "--stats")  # their words name files that need not be there
INPUT = re.compile(r".+\.(toml|jsonl|gz|parquet|csv|json|py)")
ELSEWHERE = ("cd", "git", "source")


class BadCommandError(Exception):
    """A command of a document that would fail for whoever types it."""


def commands_of(text: str) -> Iterator[list[str]]:
    """Yield the words of each command, without comments and what stands behind a pipe."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            del words[0]
        ends = [at for at, word in enumerate(words) if word in {"|", ">"}]
        if words := words[: ends[0]] if ends else words:
            yield words


def check(words: Sequence[str], *, smaller: bool = True) -> None:
    """Run a command in the working folder, or parse it; BadCommandError says what is wrong."""
    program, rest = words[0], list(words[1:])
    if program == "milepost":
        if any(tuple(rest[: len(name)]) == name for name in NOT_RUN):
            parse(rest)
        else:
            _run(rest, smaller=smaller)
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        _expect(all(target in targets for target in rest), f"no target of the Makefile: {rest}")
    elif program in {"pip", "pip3"}:
        _check_extras(rest)
    elif program in {"python", "python3"}:
        _check_python(rest)
    else:
        _expect(program in ELSEWHERE, f"unknown program: {program}")


def parse(words: Sequence[str]) -> None:
    """Hold words against the parser of `milepost`, and the files that they name against the folder.

    Raises
    ------
    BadCommandError
        For an unknown command or flag, a value that a flag refuses, a file that is not there.
    """
    command: Any = typer.main.get_command(app)
    context, rest, name = None, list(words), "milepost"
    try:
        while True:
            context = command.make_context(name, rest, parent=context)
            if not hasattr(command, "commands"):
                break
            rest = [*context._protected_args, *context.args]
            name, command, rest = command.resolve_command(context, rest)
    except Exception as error:
        message = error.format_message() if hasattr(error, "format_message") else repr(error)
        raise BadCommandError(message) from error
    for flag, word in zip(["", *words], words, strict=False):
        missing = INPUT.fullmatch(word) and flag not in OUTPUTS and not Path(word).exists()
        _expect(not missing, f"no such file: {word}")


def _run(words: list[str], *, smaller: bool) -> None:
    more = [
        word
        for start, without, extra in (*ALWAYS, *(SMALLER if smaller else ()))
        if _begins(words, start) and not set(without) & set(words)
        for word in extra
    ]
    with pytest.raises(SystemExit) as ended:
        main([*words, *more])
    fine = {0, MISSED} if words[0] in MAY_MISS else {0}
    _expect(ended.value.code in fine, f"exit code {ended.value.code} of {shlex.join(words + more)}")


def _begins(words: list[str], start: tuple[str, ...]) -> bool:
    """Return whether the first words are these; the last of them may go on."""
    *whole, last = start
    at = len(whole)
    return words[:at] == whole and len(words) > at and words[at].startswith(last)


def _check_extras(words: list[str]) -> None:
    """Hold what pip installs from the clone against the extras of the project."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for word in words:
        for extra in re.findall(r"(?<=[\[,])[a-z]+(?=[\],])", word):
            _expect(extra in extras, f"no extra {extra}")


def _check_python(words: list[str]) -> None:
    """Hold `python -m MODULE` or a script against what is there, and flags against argparse."""
    if words[0] != "-m":
        _expect(Path(words[0]).is_file(), f"no such file: {words[0]}")
        return
    name = words[1]
    _expect(importlib.util.find_spec(name) is not None, f"no module {name}")
    if importlib.util.find_spec(f"{name}.__main__" if _is_package(name) else name) is None:
        raise BadCommandError(f"{name} cannot be run")
    module = importlib.import_module(f"{name}.__main__" if _is_package(name) else name)
    if hasattr(module, "argparse"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(argparse.ArgumentParser, "parse_args", _only_parse)
            patch.setattr(sys, "argv", [name, *words[2:]])
            with pytest.raises(_ParsedError):
                module.main()


class _ParsedError(Exception):
    """Raised in place of what a command would do."""


def _only_parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> None:
    _, unknown = parser.parse_known_args(arguments)
    _expect(not unknown, f"unknown: {unknown}")
    raise _ParsedError


def _is_package(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.submodule_search_locations is not None


def _expect(holds: bool, problem: str) -> None:
    if not holds:
        raise BadCommandError(problem)
