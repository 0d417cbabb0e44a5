"""`milepost trace merge`: merge traces in time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from reports.commands.declared import options
from reports.commands.options import FileOptions, JsonOption
from reports.commands.trace.files import Out, refuse_suffix
from reports.commands.trace.parts import refuse_empty, write_part
from simulator.base.errors import UsageError


@options
class MergeCommand(FileOptions, JsonOption):
    """Merge several traces into one in which they run at the same time, so that rates add up.

    Nothing is shared between different traces, and their sessions and labels are kept apart.
    Flags say how all of them are to be read.
    """

    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Two trace files or folders, or more.")
    ]
    out: Out
    offset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="When a trace begins: once for each, or for each but the first.",
        ),
    ] = None

    def run(self) -> None:
        """Write the merged trace."""
        from workloads.opening import open_trace
        from workloads.slicing.merging import merged

        refuse_suffix(self.out)
        if len(self.files) < 2:
            raise UsageError("expected two traces or more")
        offsets = _offsets(self.offset or (), len(self.files))
        traces = []
        for file in self.files:
            traces.append(open_trace(file, **self.reading))
            refuse_empty(traces[-1], file)
        if offsets is not None and traces[0].arrival_seconds is None:
            raise UsageError("--offset: the traces tell no times")
        whole = merged(traces, offsets)
        own = [note for trace in traces for note in trace.notes]
        write_part(whole, self.out, whole.notes[: len(whole.notes) - len(own)], as_json=self.json)


def _offsets(given: Sequence[str], files: int) -> list[float] | None:
    from simulator.base.units import parse_seconds

    if not given:
        return None
    seconds = [parse_seconds(each, "--offset") for each in given]
    if len(seconds) == files - 1:
        seconds = [0.0, *seconds]
    if len(seconds) != files:
        raise UsageError(
            f"--offset: expected {files - 1} or {files} times for {files} traces, "
            f"found {len(given)}"
        )
    return seconds
