"""`milepost trace convert`."""

from __future__ import annotations

from reports.commands.options import (
    Block,
    DrawSeed,
    Format,
    Jitter,
    Json,
    OnBadLine,
    RowsAre,
    SessionRate,
    Template,
    TimeUnit,
    Tokenizer,
    read_options,
)
from reports.commands.trace.files import File, Out, refuse_suffix, write
from reports.console import say


def convert(
    file: File,
    out: Out,
    block: Block = None,
    format: Format = None,
    on_bad_line: OnBadLine = None,
    time_unit: TimeUnit = None,
    rows: RowsAre = None,
    tokenizer: Tokenizer = None,
    template: Template = None,
    jitter: Jitter = None,
    session_rate: SessionRate = None,
    seed: DrawSeed = None,
    json: Json = False,
) -> None:
    """Write a trace in another form: .parquet opens at once, .jsonl(.gz) is read everywhere."""
    from workloads.opening import open_trace

    refuse_suffix(out)
    options = read_options(
        block, on_bad_line, time_unit, rows, tokenizer, jitter, session_rate, seed, template
    )
    trace = open_trace(file, format=format, **options)
    for note in trace.notes:
        if note.startswith("default-template: "):
            say(f"note: {note}")
    write(trace, out, trace.granularity, as_json=json)
