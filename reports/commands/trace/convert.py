"""`milepost trace convert`."""

from __future__ import annotations

from reports.commands.groups import spread
from reports.commands.options import FILE_AS_IT_SAYS, FileFlags, Json
from reports.commands.trace.files import File, Out, refuse_suffix, write
from reports.console import say


@spread()
def convert(
    file: File,
    out: Out,
    reading: FileFlags = FILE_AS_IT_SAYS,
    json: Json = False,
) -> None:
    """Write a trace in another form: .parquet opens at once, .jsonl(.gz) is read everywhere."""
    from workloads.opening import open_trace

    refuse_suffix(out)
    trace = open_trace(file, **reading.given())
    for note in trace.notes:
        if note.startswith("default-template: "):
            say(f"note: {note}")
    write(trace, out, trace.granularity, as_json=json)
