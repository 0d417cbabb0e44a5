"""Flags that several commands share, and what they mean as settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.commands import completing
from reports.console import say
from reports.study.layers import parse_override, read_settings
from reports.study.own_policies import doubts, with_own_placers
from reports.study.settings import Settings

StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="[STUDY.toml]", help="A study file; without it, flags say it all."),
]
Warmup = Annotated[float | None, typer.Option(help="Uncounted first share, to 0.9.")]
Requests = Annotated[int | None, typer.Option(help="Generated ones; default: 4000.")]
Replications = Annotated[int | None, typer.Option(help="Seeds of generated traffic; default: 1.")]
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

Percentiles = Annotated[
    str | None,
    typer.Option(metavar="P,P", help="Of TTFT, besides 50, 90 and 99; as in 95,99.9."),
]


@dataclass(frozen=True, slots=True)
class TraceFlags:
    """Flags on how to read a trace file, where it does not say, of every command that takes one.

    A field `time_unit` is the flag `--time-unit` and the key `workload.time_unit` of a study.
    """

    block: Annotated[int | None, typer.Option(help="Tokens a block of ids.")] = None
    format: Annotated[
        str | None,
        typer.Option(
            help="Of the trace; default: what it looks like.", autocompletion=completing.formats
        ),
    ] = None
    on_bad_line: Annotated[str | None, typer.Option(metavar="fail|skip", help="Default: fail.")] = (
        None
    )
    time_unit: Annotated[
        str | None,
        typer.Option(metavar="s|ms|us|ns", help="Of the times; default: the format's."),
    ] = None
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="cumulative|incremental|conversation",
            help="A row holds the whole context, what is new in its session, or a conversation.",
        ),
    ] = None
    tokenizer: Annotated[
        str | None, typer.Option(help="How text becomes tokens: a name or a file.")
    ] = None
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="How messages become text, as in qwen3.5:thinking=false; default: the model's.",
        ),
    ] = None
    jitter: Annotated[
        int | None, typer.Option(metavar="SEED", help="Spread arrivals within ticks.")
    ] = None
    session_rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_SECOND",
            help="Spread the starts of sessions, where a file tells none.",
        ),
    ] = None
    isolate: Annotated[
        str | None,
        typer.Option(
            metavar="salt,lora,model,media|none",
            help="What keeps prefixes apart, where a file tells it; default: all.",
        ),
    ] = None
    cached_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="inside|outside",
            help="Cached tokens are part of the input tokens, or come on top of them.",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return those given, as keywords of `workloads.opening.open_trace`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def seeded(self, seed: int) -> dict[str, Any]:
        """Return those given, with a seed where the starts of sessions are drawn."""
        return self.given() | ({} if self.session_rate is None else {"seed": seed})

    def settings(self) -> dict[str, tuple[str, Any]]:
        """Return flag -> (key of a study file, value) of those given."""
        return {
            f"--{name.replace('_', '-')}": (f"workload.{name}", value)
            for name, value in self.given().items()
        }


AS_IT_SAYS = TraceFlags()


@dataclass(frozen=True, slots=True)
class FileFlags(TraceFlags):
    """The same for commands about a file, which have no other seed."""

    seed: Annotated[int | None, typer.Option(help="Of what a format draws; default: 0.")] = None


FILE_AS_IT_SAYS = FileFlags()


def settings_from(
    study: Path | None, flags: dict[str, tuple[str, Any]], sets: Sequence[str] | None
) -> Settings:
    """Return the settings of a study file with flags (flag -> key, value) and `--set` over it.

    What of the file is not used is said on stderr, and what looks wrong in policies of one's own.
    """
    given = [(key, value, flag) for flag, (key, value) in flags.items() if value is not None]
    overrides = [*given, *map(parse_override, sets or ())]
    settings = with_own_placers(read_settings(study, overrides))
    for note in settings.notes:
        say(f"note: {note}")
    for doubt in doubts(settings):
        say(f"warning: {doubt}")
    return settings
