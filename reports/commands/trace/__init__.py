"""`milepost trace`: commands on traces, one file each."""

from __future__ import annotations

import typer

from reports.commands.declared import CommandClass, command
from reports.commands.trace.compare import CompareTracesCommand
from reports.commands.trace.convert import ConvertCommand
from reports.commands.trace.fetch import FetchCommand
from reports.commands.trace.from_stats import FromStatsCommand
from reports.commands.trace.generate import GenerateCommand
from reports.commands.trace.inspect import InspectCommand
from reports.commands.trace.merge import MergeCommand
from reports.commands.trace.sample import SampleCommand
from reports.commands.trace.slice import SliceCommand
from reports.commands.trace.validate import ValidateCommand

COMMANDS: dict[str, tuple[type[CommandClass], str]] = {
    "inspect": (InspectCommand, "Say what a trace holds."),
    "validate": (ValidateCommand, "Look for what is wrong or odd in a file."),
    "generate": (GenerateCommand, "Write synthetic traffic as a trace."),
    "convert": (ConvertCommand, "Write a trace as .parquet or .jsonl(.gz)."),
    "fetch": (FetchCommand, "Download a public trace, or list them."),
    "from-stats": (FromStatsCommand, "Write a synthetic twin of a trace."),
    "slice": (SliceCommand, "Write a part of a trace."),
    "sample": (SampleCommand, "Write a sample of a trace, by session."),
    "merge": (MergeCommand, "Write several traces side by side."),
    "compare": (CompareTracesCommand, "Say what changed between two traces."),
}

app = typer.Typer(help="Everything about traces.", rich_markup_mode=None, no_args_is_help=False)
for name, (cls, summary) in COMMANDS.items():
    app.command(name, short_help=summary)(command(cls))
