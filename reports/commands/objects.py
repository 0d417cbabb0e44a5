"""`milepost objects`: replay a flat stream of sized objects through an eviction policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.commands.again import typed_again
from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import say
from simulator.base.errors import UsageError
from simulator.base.units import parse_bytes

MOST_WARMUP = 0.9  # as for other replays

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="CSV or Parquet: columns obj_id, size, perhaps op_count."),
]
Policy = Annotated[
    str, typer.Option("--policy", help="An eviction policy that needs no prefixes, as in lru.")
]
Capacity = Annotated[str, typer.Option("--capacity", help="Bytes, as in 6061 or '8 GiB'.")]
Uniform = Annotated[bool, typer.Option("--uniform", help="Take every size for 1.")]

Warmup = Annotated[float, typer.Option("--warmup", help="Uncounted first share, to 0.9.")]


@options
class ObjectsCommand(JsonOption):
    """Replay a stream of sized objects, without prefixes, through an eviction policy."""

    file: File
    policy: Policy
    capacity: Capacity
    uniform: Uniform = False
    warmup: Warmup = 0.0

    def run(self) -> None:
        """Replay the stream, and print hits and misses."""
        from policies.objects import replay
        from policies.objects.libcachesim import spelled_out
        from policies.registry import create
        from reports.object_file import open_objects
        from reports.pages.objects import objects_report
        from reports.report.showing import show

        eviction = create("eviction", spelled_out(self.policy))
        capacity_bytes = parse_bytes(self.capacity, "--capacity")
        if not 0 <= self.warmup <= MOST_WARMUP:
            raise UsageError(f"--warmup: expected 0 to {MOST_WARMUP}, found {self.warmup:g}")
        read = open_objects(self.file, uniform=self.uniform)
        first = int(self.warmup * len(read.stream))
        result = replay(read.stream, eviction, capacity_bytes, first=first)
        for note in read.notes:
            say(f"note: {note}")
        report = objects_report(
            result,
            self.policy,
            capacity_bytes,
            warmup_requests=first,
            uniform=self.uniform,
            notes=read.notes,
            command=typed_again("milepost objects FILE"),
        )
        show(report, as_json=self.json)
