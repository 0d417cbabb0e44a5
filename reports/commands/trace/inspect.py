"""`milepost trace inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
from reports.commands.trace.files import File
from reports.console import print_json, say
from simulator.errors import DataError


def inspect(
    file: File,
    page: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None,
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
    """Say what a trace holds, and what an ideal cache would save."""
    from workloads.inspection import inspect as inspect_trace
    from workloads.opening import open_trace

    options = read_options(
        block, on_bad_line, time_unit, rows, tokenizer, jitter, session_rate, seed, template
    )
    trace = open_trace(file, format=format, **options)
    if not len(trace):
        raise DataError(str(file), "expected requests, found none")
    found = inspect_trace(trace)
    if page is not None:
        from reports.trace.page import write_trace_page

        write_trace_page(page, found)
    if json:
        print_json(found.as_json())
    else:
        from reports.trace.summary import print_inspection

        print_inspection(found)
    if page is not None:
        say(f"page: {page}")
