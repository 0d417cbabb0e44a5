"""`milepost trace compare`: list the differences between two traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.commands.again import html_page, typed_again
from reports.commands.declared import options
from reports.commands.options import FileOptions, JsonOption, PageOption
from reports.commands.trace.parts import refuse_empty

FileA = Annotated[Path, typer.Argument(metavar="FILE_A", help="A trace: last week's.")]
FileB = Annotated[Path, typer.Argument(metavar="FILE_B", help="Another: this week's.")]


@options
class CompareTracesCommand(PageOption, FileOptions, JsonOption):
    """List what changed from one trace to another, and what of it may be chance.

    Compared are lengths, reuse, arrivals and sessions, the largest differences first. Flags that
    say how a file is read hold for both.
    """

    a: FileA
    b: FileB

    def run(self) -> None:
        """Compare the traces, and print what changed."""
        from reports.pages.trace_comparison import trace_comparison_report
        from reports.report.showing import show_with_page
        from reports.trace.comparison.comparing import compare_traces
        from workloads.opening import open_trace
        from workloads.reading.files import trace_name

        html_page(self.page)
        traces = []
        for file in (self.a, self.b):
            traces.append(open_trace(file, **self.reading))
            refuse_empty(traces[-1], file)
        comparison = compare_traces(traces[0], traces[1], (trace_name(self.a), trace_name(self.b)))
        report = trace_comparison_report(comparison, typed_again("milepost trace compare A B"))
        show_with_page(report, self.page, as_json=self.json)
