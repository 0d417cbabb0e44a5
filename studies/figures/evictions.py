"""The tables of docs/evictions.md: the cells shown, from studies/evictions.

The whole grids, 840 cells a trace, take 20 minutes of one core each; these take 5.
"""

from __future__ import annotations

import gzip
import json
from functools import partial
from itertools import islice
from pathlib import Path

from reports.results.points import Point, WorldPoints
from simulator.base.files import write_text
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.sweeps import less, worlds_of

Names = tuple[str, ...]
GROUP = "evictions"
SESSIONS = "kv_cache_tester/sessions_rle.jsonl.gz"
MOONCAKE = "mooncake/{}_trace.jsonl.gz"
FIRST = 60  # sessions of kv-cache-tester
LRU = "lru · always"
FORESIGHT = ("belady", "clairvoyant")
SHOWN = (
    ("lru", "value", "pgdsf", "marconi", "arc", *FORESIGHT),
    ("always", "second_sighting", "value"),
)
POPULAR = (("sieve", "lfu", "gdsf", "wtinylfu", "seglen"), ("always",))
ADMITTED = (("lru",), ("tinylfu", "probabilistic"))


def _figures(place: Workplace, name: str) -> Figures:
    """Return the rates and gains of the policies shown, and those of popular policies."""
    shown = _world(place, f"evictions_{name}", name, *SHOWN)
    popular = _rates(_world(place, f"popular_{name}", name, *POPULAR))
    popular |= _rates(_world(place, f"admitted_{name}", name, *ADMITTED))
    rates = _rates(shown)
    return {
        "rates": rates,
        "foresight": _foresight(shown),
        "gains": {each.name: _gains(shown, each.name) for each in shown.series if not each.marks},
        "popular": popular,
        "worse_than_lru": {other: _worse(popular[other], rates[LRU]) for other in popular},
    }


def _worse(rates: Figures, lru: Figures) -> int:
    """Return the number of capacities at which a policy saves less than `lru`."""
    return sum(rate < lru[at] for at, rate in rates.items())


def _world(
    place: Workplace,
    folder: str,
    name: str,
    evictions: tuple[str, ...],
    admissions: tuple[str, ...],
) -> WorldPoints:
    (world,) = worlds_of(
        place.study(
            folder,
            *("sweep", f"studies/evictions/{name}.toml"),
            *("--set", f"workload.trace={_trace(place, name)}"),
            *("--set", f"grid.policy.eviction={json.dumps(evictions)}"),
            *("--set", f"grid.policy.admission={json.dumps(admissions)}"),
        )
    )
    return world


def _trace(place: Workplace, name: str) -> Path:
    """Return the trace of a study; only the first 60 of the sessions."""
    return first_sessions(place) if name == "sessions" else place.trace(MOONCAKE.format(name))


def first_sessions(place: Workplace) -> Path:
    """Return a file with the first sessions of kv-cache-tester."""
    path = place.folder / "sessions.jsonl"
    with gzip.open(place.trace(SESSIONS), "rt", encoding="utf-8") as lines:
        write_text(path, "".join(islice(lines, FIRST)))
    return path


def _rates(world: WorldPoints) -> Figures:
    """Return token hit rates by policies and capacity."""
    return {
        each.name: {at: _rate(world.points[each.name, at]) for at in world.capacities}
        for each in world.series
        if not each.marks
    }


def _rate(point: Point) -> float:
    return point.share("saved_tokens")


def _foresight(world: WorldPoints) -> Figures:
    """Return the best rate of the policies with foresight, by capacity."""
    names = [f"{policy} · always" for policy in FORESIGHT]
    return {at: max(_rate(world.points[name, at]) for name in names) for at in world.capacities}


def _gains(world: WorldPoints, name: str) -> Figures:
    """Return the gain of a pair of policies over `lru`, not corrected for other comparisons."""
    points = world.points
    return {at: less(points[name, at], points[LRU, at]) for at in world.capacities}


PARTS = tuple(
    Part(f"evictions_{name}", GROUP, minutes, partial(_figures, name=name), (trace,))
    for name, minutes, trace in (
        ("conversation", 6, MOONCAKE.format("conversation")),
        ("synthetic", 3, MOONCAKE.format("synthetic")),
        ("sessions", 5, SESSIONS),
    )
)
