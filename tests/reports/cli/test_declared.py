"""Commands as dataclasses: what becomes of their fields on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from reports.commands.declared import Sets, command, keys_of, options, settings_given
from simulator.base.flags import Flag

ran: list[Any] = []


@options
class Shared:
    seed: Annotated[int, Flag("Of weights.")] = 0
    size: Annotated[str | None, typer.Option(help="In bytes."), Sets("cache.capacity")] = None


@options
class Greet(Shared):
    """Greet someone."""

    loud: Annotated[bool, Flag("In capitals.")] = False
    out: Annotated[Path, Flag("Where to write.", "FILE")]
    name: Annotated[str, typer.Argument(help="Who.")]

    def run(self) -> None:
        ran.append(self)


@pytest.fixture
def app() -> typer.Typer:
    ran.clear()
    built = typer.Typer(rich_markup_mode=None)
    built.command()(command(Greet))
    return built


def test_a_command_is_its_dataclass(app: typer.Typer) -> None:
    words = ["you", "--out", "a", "--loud", "--size", "8GiB"]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    assert ran == [Greet(name="you", out=Path("a"), loud=True, size="8GiB")]


def test_own_options_come_first_then_those_inherited(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(word) for word in ("--loud", "--out FILE", "--seed", "--size")]
    assert places == sorted(places)
    assert "Greet someone." in shown
    assert "--no-loud" not in shown


def test_a_flag_is_needed_where_a_field_has_no_default(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["you"]).exit_code == 2
    assert ran == []


def test_settings_are_those_given() -> None:
    assert keys_of(Greet) == {"size": "cache.capacity"}
    greet = Greet(name="you", out=Path("a"))
    assert settings_given(greet) == {}
    sized = Greet(name="you", out=Path("a"), size="8GiB")
    assert settings_given(sized) == {"--size": ("cache.capacity", "8GiB")}
