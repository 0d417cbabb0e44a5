"""The report of `milepost objects`: hits of an eviction policy on a stream of sized objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reports.report import Report, Section, Strong, Terms
from reports.words import share
from simulator.base.units import format_bytes

if TYPE_CHECKING:
    from policies.objects import ObjectResult


def objects_report(
    result: ObjectResult,
    policy: str,
    capacity_bytes: int,
    *,
    warmup_requests: int,
    uniform: bool,
    notes: Sequence[str],
    command: str,
) -> Report:
    """Return the report of a replayed stream.

    With `uniform`, all objects have the same size and `capacity_bytes` counts objects, not bytes.
    """
    requests = result.hits + result.misses
    unit = "objects" if uniform else "bytes"
    after = f" after {warmup_requests:,} of warm-up" if warmup_requests else ""
    facts = [
        ("policy", policy),
        ("capacity", f"{capacity_bytes:,} {unit}"),
        ("requests", f"{requests:,}{after}"),
        ("misses", share(result.misses, requests)),
    ]
    if not uniform:
        facts.append(("hit bytes", share(result.hit_bytes, result.requested_bytes)))
        facts.append(("peak", format_bytes(result.peak_bytes)))
    return Report(
        kind="objects",
        title=f"{policy} on a stream of objects",
        sections=(
            Section(
                answer=("Hits: ", Strong(share(result.hits, requests)), " of the requests."),
                blocks=(Terms(items=facts),),
            ),
        ),
        caveats=(),
        command=command,
        data={
            "requests": requests,
            "hits": result.hits,
            "misses": result.misses,
            "requested_bytes": result.requested_bytes,
            "hit_bytes": result.hit_bytes,
            "peak_bytes": result.peak_bytes,
            "warmup_requests": warmup_requests,
            "notes": list(notes),
        },
    )
