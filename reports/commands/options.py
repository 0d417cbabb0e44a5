"""Flags that several commands share, and what they mean as settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.study.settings import Settings, parse_override, read_settings

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
Block = Annotated[int | None, typer.Option("--block", help="Tokens a block of ids.")]
Format = Annotated[
    str | None, typer.Option("--format", help="Of the trace; default: what it looks like.")
]
OnBadLine = Annotated[
    str | None,
    typer.Option("--on-bad-line", metavar="fail|skip", help="Default: fail."),
]
TimeUnit = Annotated[
    str | None,
    typer.Option("--time-unit", metavar="s|ms|us|ns", help="Of the times; default: the format's."),
]
RowsAre = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar="cumulative|incremental|conversation",
        help="A row holds the whole context, what is new in its session, or a conversation.",
    ),
]
Tokenizer = Annotated[
    str | None, typer.Option("--tokenizer", help="How text becomes tokens: a name or a file.")
]
Template = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="NAME|FILE",
        help="How messages become text, as in qwen3.5:thinking=false; default: the model's.",
    ),
]
Jitter = Annotated[
    int | None, typer.Option("--jitter", metavar="SEED", help="Spread arrivals within ticks.")
]
SessionRate = Annotated[
    float | None,
    typer.Option(
        "--session-rate",
        metavar="PER_SECOND",
        help="Spread the starts of sessions, where a file tells none.",
    ),
]
Generator = Annotated[
    str | None, typer.Option("--generator", help="As in chats:turns_mean=3; default: built-in.")
]
Arrivals = Annotated[
    str | None, typer.Option("--arrivals", help="As in gamma:cv=3; default: poisson.")
]
DrawSeed = Annotated[int | None, typer.Option("--seed", help="Of what a format draws; default: 0.")]


def read_options(
    block: int | None = None,
    on_bad_line: str | None = None,
    time_unit: str | None = None,
    rows: str | None = None,
    tokenizer: str | None = None,
    jitter: int | None = None,
    session_rate: float | None = None,
    seed: int | None = None,
    template: str | None = None,
) -> dict[str, Any]:
    """Return flags as keywords of `workloads.opening.open_trace`, without those not given."""
    given = {
        "block": block,
        "on_bad_line": on_bad_line,
        "time_unit": time_unit,
        "rows": rows,
        "tokenizer": tokenizer,
        "template": template,
        "jitter": jitter,
        "session_rate": session_rate,
        "seed": seed,
    }
    return {name: value for name, value in given.items() if value is not None}


def settings_from(
    study: Path | None, flags: dict[str, tuple[str, Any]], sets: Sequence[str] | None
) -> Settings:
    """Return the settings of a study file with flags (flag -> key, value) and `--set` over it."""
    given = [(key, value, flag) for flag, (key, value) in flags.items() if value is not None]
    return read_settings(study, [*given, *map(parse_override, sets or ())])
