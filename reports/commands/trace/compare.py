"""`milepost trace compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.commands.again import html_page, typed_again
from reports.commands.groups import spread
from reports.commands.options import FILE_AS_IT_SAYS, FileFlags, Json
from reports.commands.trace.parts import refuse_empty

FileA = Annotated[Path, typer.Argument(metavar="FILE_A", help="A trace: last week's.")]
FileB = Annotated[Path, typer.Argument(metavar="FILE_B", help="Another: this week's.")]


@spread()
def compare(
    a: FileA,
    b: FileB,
    page: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None,
    reading: FileFlags = FILE_AS_IT_SAYS,
    json: Json = False,
) -> None:
    """Say what changed from one trace to another, and what of it may be chance.

    Lengths, reuse, arrivals and sessions, the most telling first. Flags say how both are to be
    read.
    """
    from reports.pages.trace_comparison import trace_comparison_report
    from reports.report.showing import show_with_page
    from reports.trace.comparison.comparing import compare_traces
    from workloads.opening import open_trace
    from workloads.reading.files import trace_name

    html_page(page)
    traces = []
    for file in (a, b):
        traces.append(open_trace(file, **reading.given()))
        refuse_empty(traces[-1], file)
    comparison = compare_traces(traces[0], traces[1], (trace_name(a), trace_name(b)))
    report = trace_comparison_report(comparison, typed_again("milepost trace compare A B"))
    show_with_page(report, page, as_json=json)
