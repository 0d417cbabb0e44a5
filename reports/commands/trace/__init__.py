"""`milepost trace`: everything about traces, one file a command."""

from __future__ import annotations

import typer

from reports.commands.trace import (
    compare,
    convert,
    fetch,
    from_stats,
    generate,
    inspect,
    merge,
    sample,
    slice,
    validate,
)

app = typer.Typer(help="Everything about traces.", rich_markup_mode=None, no_args_is_help=False)
app.command("inspect", short_help="Say what a trace holds.")(inspect.inspect)
app.command("validate", short_help="Look for what is wrong or odd in a file.")(validate.validate)
app.command("generate", short_help="Write synthetic traffic as a trace.")(generate.generate)
app.command("convert", short_help="Write a trace as .parquet or .jsonl(.gz).")(convert.convert)
app.command("fetch", short_help="Download a public trace, or list them.")(fetch.fetch)
app.command("from-stats", short_help="Write a synthetic twin of a trace.")(from_stats.from_stats)
app.command("slice", short_help="Write a part of a trace.")(slice.slice_trace)
app.command("sample", short_help="Write a sample of a trace, by session.")(sample.sample)
app.command("merge", short_help="Write several traces side by side.")(merge.merge)
app.command("compare", short_help="Say what changed between two traces.")(compare.compare)
