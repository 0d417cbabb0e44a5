"""`milepost objects`: an eviction policy on a flat stream of sized objects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.commands.options import Json
from reports.console import print_json, print_table
from reports.results.summary import share
from simulator.units import format_bytes, parse_bytes

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV or Parquet with columns obj_id and size.")
]
Policy = Annotated[
    str, typer.Option("--policy", help="An eviction policy that needs no prefixes, as in lru.")
]
Capacity = Annotated[str, typer.Option("--capacity", help="Bytes, as in 6061 or '8 GiB'.")]
Uniform = Annotated[bool, typer.Option("--uniform", help="Take every size for 1.")]


def objects(
    file: File, policy: Policy, capacity: Capacity, uniform: Uniform = False, json: Json = False
) -> None:
    """Replay a stream of sized objects, without prefixes, through an eviction policy."""
    from policies.objects import replay
    from policies.registry import create
    from reports.object_file import open_objects

    eviction = create("eviction", policy)
    capacity_bytes = parse_bytes(capacity, "--capacity")
    stream = open_objects(file, uniform=uniform)
    found = replay(stream, eviction, capacity_bytes)
    counts = {"hits": found.hits, "misses": found.misses, "hit_bytes": found.hit_bytes}
    if json:
        print_json(counts)
        return
    requested_bytes = int(stream.size_bytes.sum())
    unit = "objects" if uniform else "bytes"
    rows = [
        ("policy", policy),
        ("capacity", f"{capacity_bytes:,} {unit}"),
        ("requests", f"{len(stream):,}"),
        ("hits", share(found.hits, len(stream))),
        ("misses", share(found.misses, len(stream))),
    ]
    if not uniform:
        rows.append(("hit bytes", share(found.hit_bytes, requested_bytes)))
        rows.append(("peak", format_bytes(found.peak_bytes)))
    print_table(("", ""), rows)
