"""`milepost trace inspect`: show what a trace holds."""

from __future__ import annotations

from typing import Annotated

import typer

from reports.commands.again import html_page, typed_again
from reports.commands.declared import options
from reports.commands.options import FileOptions, JsonOption, PageOption
from reports.commands.trace.files import File
from reports.commands.trace.parts import refuse_empty


@options
class InspectCommand(PageOption, FileOptions, JsonOption):
    """Show what a trace holds, and what an ideal cache would save."""

    file: File
    profile: Annotated[
        str | None, typer.Option(help="Tell working sets in GiB of a profile, or of its JSON file.")
    ] = None

    def run(self) -> None:
        """Print what the trace holds."""
        from reports.pages.trace import trace_report
        from reports.report.showing import show_with_page
        from workloads.inspection import inspect as inspect_trace
        from workloads.opening import open_trace

        html_page(self.page)
        memory = None
        if self.profile is not None:
            from calibration.catalogue import open_profile
            from reports.trace.memory import Memory

            memory = Memory.of(open_profile(self.profile))
        trace = open_trace(self.file, **self.reading)
        refuse_empty(trace, self.file)
        command = typed_again("milepost trace inspect FILE")
        show_with_page(
            trace_report(inspect_trace(trace), command, memory), self.page, as_json=self.json
        )
