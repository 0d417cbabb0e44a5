"""`milepost trace convert`: write a trace in another format."""

from __future__ import annotations

from reports.commands.declared import options
from reports.commands.options import FileOptions, JsonOption
from reports.commands.trace.files import File, Out, refuse_suffix, write
from reports.console import say


@options
class ConvertCommand(FileOptions, JsonOption):
    """Write a trace in another format: .parquet opens fastest, .jsonl(.gz) is read everywhere."""

    file: File
    out: Out

    def run(self) -> None:
        """Write the trace."""
        from workloads.opening import open_trace

        refuse_suffix(self.out)
        trace = open_trace(self.file, **self.reading)
        for note in trace.notes:
            if note.startswith("default-template: "):
                say(f"note: {note}")
        write(trace, self.out, trace.granularity, as_json=self.json)
