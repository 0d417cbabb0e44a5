"""`milepost trace fetch`: download a public trace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from reports.commands.declared import options
from reports.commands.options import OutputOptions
from reports.console import Progress, print_json, print_line, print_table
from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.base.units import format_bytes


@options
class FetchCommand(OutputOptions):
    """Download a public trace, or list those available: versions are pinned, files checked.

    A download that was interrupted is resumed.
    """

    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="As listed without a name.")
    ] = None
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to put it.")] = Path()

    def run(self) -> None:
        """Download the trace, or print the list."""
        from workloads.fetching.public_traces import TRACES

        if self.name is None:
            _list(as_json=self.json)
            return
        if self.name not in TRACES:
            shown = printable(self.name, 60)
            raise UsageError(f"unknown public trace '{shown}'{did_you_mean(shown, list(TRACES))}")
        from workloads.fetching.download import fetch as fetch_trace

        trace = TRACES[self.name]
        with Progress(quiet=self.quiet, what="bytes") as report:
            path = fetch_trace(trace, self.out, report)
        if self.json:
            print_json({"file": str(path), "bytes": trace.size_bytes, "sha256": trace.sha256})
        else:
            print_line(
                f"{path}: {format_bytes(trace.size_bytes)}, {trace.licence}, sha256 as expected"
            )


def _list(*, as_json: bool) -> None:
    from workloads.fetching.public_traces import TRACES

    if as_json:
        listed = [
            {"name": name, "url": trace.url} | asdict(trace) for name, trace in TRACES.items()
        ]
        print_json({"traces": listed})
        return
    rows = [
        (
            name,
            format_bytes(trace.size_bytes),
            trace.licence,
            f"{trace.title}; {trace.repository}",
            trace.sha256[:12],
        )
        for name, trace in TRACES.items()
    ]
    print_table(("name", "size", "licence", "what, and whence", "sha256"), rows)
