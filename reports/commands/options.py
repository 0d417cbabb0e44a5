"""Flags that several commands share, and what they mean as settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.settings import Settings, parse_override, read_settings

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the study.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting, as in cache.capacity=8GiB."
    ),
]
Block = Annotated[int | None, typer.Option("--block", help="Tokens a block of ids; default: 512.")]
Format = Annotated[str | None, typer.Option("--format", help="Of the trace; default: mooncake.")]
OnBadLine = Annotated[
    str | None,
    typer.Option("--on-bad-line", metavar="fail|skip", help="Default: fail."),
]


def settings_from(
    study: Path | None, flags: dict[str, tuple[str, Any]], sets: Sequence[str] | None
) -> Settings:
    """Return the settings of a study file with flags (flag -> key, value) and `--set` over it."""
    given = [(key, value, flag) for flag, (key, value) in flags.items() if value is not None]
    return read_settings(study, [*given, *map(parse_override, sets or ())])
