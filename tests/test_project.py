"""What the project's own files say of each other: checks, version, types."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
import typing
from datetime import date
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from pre_commit.clientlib import load_config

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def recipe(target: str) -> list[str]:
    """Return the commands of a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1].splitlines()
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in lines]


def test_a_commit_is_checked_by_the_commands_of_make_lint():
    repositories = load_config(str(ROOT / ".pre-commit-config.yaml"))["repos"]
    hooks = [hook for repository in repositories for hook in repository["hooks"]]
    assert [hook["entry"] for hook in hooks] == recipe("lint")
    assert all(hook["always_run"] and not hook["pass_filenames"] for hook in hooks)
    assert {repository["repo"] for repository in repositories} == {"local"}


def test_the_citation_names_the_newest_version_and_its_date():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+) - (\S+)$", changelog, re.MULTILINE).groups()
    assert (citation["version"], citation["date-released"]) == newest
    assert citation["version"] == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert date.fromisoformat(citation["date-released"])
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"message", "title", "authors"}


def test_the_wheel_says_that_every_package_is_typed(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        assert {f"{package}/py.typed" for package in PACKAGES} <= {*archive.namelist()}


@pytest.mark.parametrize("package", ["simulator", "workloads", "reports"])
def test_the_public_interface_is_typed(package):
    module = import_module(package)
    for name in module.__all__:
        for function in public_functions(getattr(module, name)):
            returned = inspect.signature(function).return_annotation
            assert returned not in (inspect.Signature.empty, typing.Any, "Any"), function
            parameters = [*inspect.signature(function).parameters.values()]
            untyped = [p.name for p in parameters if p.annotation is p.empty]
            assert [p for p in untyped if p not in ("self", "cls")] == [], function


def public_functions(thing):
    """Return a function itself, or the constructor, methods and properties of a class."""
    if not inspect.isclass(thing):
        return [thing]
    members = [m for name, m in vars(thing).items() if not name.startswith("_")]
    plain = [getattr(m, "fget", None) or getattr(m, "__func__", m) for m in members]
    return [thing.__init__, *(m for m in plain if inspect.isfunction(m))]
