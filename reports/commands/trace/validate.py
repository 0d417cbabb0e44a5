"""`milepost trace validate`: check a trace file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from reports.commands.declared import options
from reports.commands.options import FormatOptions, JsonOption
from reports.commands.trace.files import File
from reports.console import print_json, print_table
from simulator.base.errors import DataError

if TYPE_CHECKING:
    from workloads.anomaly import Anomaly


@options
class ValidateCommand(FormatOptions, JsonOption):
    """Report what is wrong or odd in a trace file; exit 3 where it cannot be used as it is."""

    file: File

    def run(self) -> None:
        """Print the problems and oddities."""
        from workloads.validation import validate as validate_trace

        anomalies = validate_trace(self.file, **self.reading)
        errors = [anomaly for anomaly in anomalies if anomaly.error]
        if self.json:
            print_json(
                {"valid": not errors, "anomalies": [asdict(anomaly) for anomaly in anomalies]}
            )
        elif anomalies:
            print_table(
                ("", "count", "first line", "what"), [_row(anomaly) for anomaly in anomalies]
            )
        else:
            print("nothing is wrong")
        if errors:
            raise typer.Exit(DataError.exit_code)


def _row(anomaly: Anomaly) -> tuple[str, str, str, str]:
    line = "" if anomaly.first_line is None else str(anomaly.first_line)
    kind = "error" if anomaly.error else "warning"
    return kind, f"{anomaly.count:,}", line, f"{anomaly.what}: {anomaly.detail}"
