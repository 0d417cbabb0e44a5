"""`milepost trace inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.commands.again import html_page, typed_again
from reports.commands.groups import spread
from reports.commands.options import FILE_AS_IT_SAYS, FileFlags, Json
from reports.commands.trace.files import File
from reports.commands.trace.parts import refuse_empty
from reports.console import print_json, say


@spread()
def inspect(
    file: File,
    page: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="Tell working sets in GiB of a profile, or of its JSON file.")
    ] = None,
    reading: FileFlags = FILE_AS_IT_SAYS,
    json: Json = False,
) -> None:
    """Say what a trace holds, and what an ideal cache would save."""
    from workloads.inspection import inspect as inspect_trace
    from workloads.opening import open_trace

    html_page(page)
    memory = None
    if profile is not None:
        from calibration.catalogue import open_profile
        from reports.trace.memory import Memory

        memory = Memory.of(open_profile(profile))
    trace = open_trace(file, **reading.given())
    refuse_empty(trace, file)
    inspection = inspect_trace(trace)
    if page is not None:
        from reports.trace.page import write_trace_page

        write_trace_page(page, inspection, typed_again("milepost trace inspect FILE"), memory)
    if json:
        plain = inspection.as_json()
        print_json(plain if memory is None else {**plain, "memory": memory.as_json(inspection)})
    else:
        from reports.trace.summary import print_inspection

        print_inspection(inspection, memory)
    if page is not None:
        say(f"page: {page}")
