"""Options that several commands share, each declared once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.commands import completing
from reports.commands.declared import Given, options


@options
class JsonOption:
    """The option to print the result as JSON."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False


@options
class OutputOptions(JsonOption):
    """Options of what is printed: JSON or text, and progress."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False

    @property
    def silent(self) -> bool:
        """Whether progress is hidden."""
        return self.quiet or self.json


@options
class DryRunOption:
    """The option to print the plan only."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")
    ] = False


@options
class PageOption:
    """The option of where a page is written."""

    page: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None


@options
class FormatOptions:
    """Options that state what a trace file holds, where the file itself does not.

    A field such as `time_unit` is the option `--time-unit` and the key `workload.time_unit` of a
    study.
    """

    block: Annotated[int | None, typer.Option(help="Tokens a block of ids.")] = None
    format: Annotated[
        str | None,
        typer.Option(
            help="Of the trace; default: what it looks like.", autocompletion=completing.formats
        ),
    ] = None
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

    @property
    def reading(self) -> dict[str, Any]:
        """The options given, as keyword arguments of `workloads.opening.open_trace`."""
        names = (field.name for field in fields(ReadingOptions))
        return {name: value for name in names if (value := getattr(self, name, None)) is not None}


@options
class LineOptions(FormatOptions):
    """`FormatOptions`, and what becomes of bad lines and of sessions without times."""

    on_bad_line: Annotated[str | None, typer.Option(metavar="fail|skip", help="Default: fail.")] = (
        None
    )
    session_rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_SECOND",
            help="Spread the starts of sessions, where a file tells none.",
        ),
    ] = None

    def seeded(self, seed: int) -> dict[str, Any]:
        """Return the options given, with `seed` added where the starts of sessions are drawn."""
        return self.reading | ({} if self.session_rate is None else {"seed": seed})


@options
class ReadingOptions(LineOptions):
    """All options for how a trace file is read, where the file itself does not say."""

    jitter: Annotated[
        int | None, typer.Option(metavar="SEED", help="Spread arrivals within ticks.")
    ] = None

    def reading_settings(self) -> Given:
        """Return the options given, as flag -> (key of a study file, value)."""
        return {
            f"--{name.replace('_', '-')}": (f"workload.{name}", value)
            for name, value in self.reading.items()
        }


@options
class FileOptions(ReadingOptions):
    """Options for reading a trace file in commands on files, which have no other seed."""

    seed: Annotated[int | None, typer.Option(help="Of what a format draws; default: 0.")] = None

    @property
    def reading(self) -> dict[str, Any]:
        """The options given, with the seed where one is used."""
        given = super().reading
        return given if self.seed is None else {**given, "seed": self.seed}
