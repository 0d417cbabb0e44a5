"""`milepost trace validate`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from reports.commands.options import (
    Block,
    Format,
    Json,
    RowsAre,
    Template,
    TimeUnit,
    Tokenizer,
    read_options,
)
from reports.commands.trace.files import File
from reports.console import print_json, print_table
from simulator.errors import DataError

if TYPE_CHECKING:
    from workloads.anomaly import Anomaly


def validate(
    file: File,
    block: Block = None,
    format: Format = None,
    time_unit: TimeUnit = None,
    rows: RowsAre = None,
    tokenizer: Tokenizer = None,
    template: Template = None,
    json: Json = False,
) -> None:
    """Look for what is wrong or odd in a trace file; exit 3 where it cannot be used as it is."""
    from workloads.validation import validate as validate_trace

    options = read_options(block, None, time_unit, rows, tokenizer, template=template)
    anomalies = validate_trace(file, format=format, **options)
    errors = [anomaly for anomaly in anomalies if anomaly.error]
    if json:
        print_json({"valid": not errors, "anomalies": [asdict(anomaly) for anomaly in anomalies]})
    elif anomalies:
        print_table(("", "count", "first line", "what"), [_row(found) for found in anomalies])
    else:
        print("nothing is wrong")
    if errors:
        raise typer.Exit(DataError.exit_code)


def _row(found: Anomaly) -> tuple[str, str, str, str]:
    line = "" if found.first_line is None else str(found.first_line)
    kind = "error" if found.error else "warning"
    return kind, f"{found.count:,}", line, f"{found.what}: {found.detail}"
