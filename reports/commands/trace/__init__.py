"""`milepost trace`: everything about traces, one file a command."""

from __future__ import annotations

import typer

from reports.commands.declared import CommandClass, command
from reports.commands.trace.compare import CompareTraces
from reports.commands.trace.convert import Convert
from reports.commands.trace.fetch import Fetch
from reports.commands.trace.from_stats import FromStats
from reports.commands.trace.generate import Generate
from reports.commands.trace.inspect import Inspect
from reports.commands.trace.merge import Merge
from reports.commands.trace.sample import Sample
from reports.commands.trace.slice import Slice
from reports.commands.trace.validate import Validate

COMMANDS: dict[str, tuple[type[CommandClass], str]] = {
    "inspect": (Inspect, "Say what a trace holds."),
    "validate": (Validate, "Look for what is wrong or odd in a file."),
    "generate": (Generate, "Write synthetic traffic as a trace."),
    "convert": (Convert, "Write a trace as .parquet or .jsonl(.gz)."),
    "fetch": (Fetch, "Download a public trace, or list them."),
    "from-stats": (FromStats, "Write a synthetic twin of a trace."),
    "slice": (Slice, "Write a part of a trace."),
    "sample": (Sample, "Write a sample of a trace, by session."),
    "merge": (Merge, "Write several traces side by side."),
    "compare": (CompareTraces, "Say what changed between two traces."),
}

app = typer.Typer(help="Everything about traces.", rich_markup_mode=None, no_args_is_help=False)
for name, (cls, summary) in COMMANDS.items():
    app.command(name, short_help=summary)(command(cls))
