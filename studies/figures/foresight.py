"""How near policies come to the bound that no policy exceeds: nine workloads at six capacities.

The figures of docs/placement.md compare `clairvoyant` with some placers and eviction policies. All
of them, on one workload or on all (many hours of one core):

    python -m studies.figures.foresight conversation
    python -m studies.figures.foresight
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from policies.eviction import EVICTION
from policies.placement import PLACERS as EVERY_PLACER
from reports import Study
from studies.figures.parts import ROOT, Figures, Part, Workplace
from studies.figures.placed import PROFILE, TRACES

GROUP = "foresight"
GENERATED = ("chats", "agents", "thoughts")
REQUESTS = 1500
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of the peak of an unbounded cache under `branch`
PLACERS = ("adaptive", "last", "branch", "marconi")
EVICTIONS = ("lru", "value", "clairvoyant")
SEER = "clairvoyant"
FREE = ("dense", "branch", SEER)


def _figures(
    place: Workplace,
    name: str,
    placers: Sequence[str] = PLACERS,
    evictions: Sequence[str] = EVICTIONS,
) -> Figures:
    """Return, by share of the peak, what is saved as a share of the ideal, and the bound."""
    free = _cells(place, name, "free", FREE, ["lru"], ["unbounded"])
    ideal = int(free.row(by_predicate=pl.col("placer") == "dense", named=True)["saved_tokens"])
    peak = free.row(by_predicate=pl.col("placer") == "branch", named=True)["cache_peak_bytes"]
    ahead = free.row(by_predicate=pl.col("placer") == SEER, named=True)
    sizes = {f"{share:.0%}": round(share * peak) for share in SHARES}
    asked = [f"{size} B" for size in sizes.values()]
    seers = _cells(place, name, "ahead", [SEER], [SEER, "lru"], asked)
    others = _cells(place, name, "others", placers, evictions, asked)
    return {
        "peak_bytes": peak,
        "unbounded": {
            "share": ahead["saved_tokens"] / ideal,
            "written": ahead["checkpoints_mean_per_request"],
        },
        "bounded": {share: _at(seers, others, size, ideal) for share, size in sizes.items()},
    }


def _at(seers: pl.DataFrame, others: pl.DataFrame, size: int, ideal: int) -> Figures:
    """Return the shares of the ideal at one capacity."""
    here = seers.filter(pl.col("capacity_bytes") == size)
    tried = others.filter(pl.col("capacity_bytes") == size).sort(
        "saved_tokens", descending=True, maintain_order=True
    )
    best = tried.row(0, named=True)
    saved = {row["eviction"]: row["saved_tokens"] / ideal for row in here.iter_rows(named=True)}
    usual = tried.filter(pl.col("eviction") == "lru")
    lru = {row["placer"]: row["saved_tokens"] / ideal for row in usual.iter_rows(named=True)}
    return {
        "bound": here["bound_saved_tokens"][0] / ideal,
        "planned": saved[SEER],
        "planned_lru": saved["lru"],
        "adaptive": lru["adaptive"],
        "branch": lru["branch"],
        "best_of_others": best["saved_tokens"] / ideal,
        "best_others_are": f"{best['placer']} + {best['eviction']}",
    }


def _cells(
    place: Workplace,
    name: str,
    kind: str,
    placers: Sequence[str],
    evictions: Sequence[str],
    capacities: Sequence[str],
) -> pl.DataFrame:
    """Replay a workload on the instant server with an alignment of 1, and no warm-up."""
    settings: dict[str, Any] = {
        "workload": _workload(place, name),
        "model": {"profile": PROFILE, "alignment": 1},
        "server": {"kind": "instant"},
        "grid": {
            "policy.placer": list(placers),
            "policy.eviction": list(evictions),
            "cache.capacity": list(capacities),
        },
    }
    return Study(settings).run(place.folder / f"foresight_{name}_{kind}", place.jobs).cells


def _workload(place: Workplace, name: str) -> dict[str, Any]:
    if name in GENERATED:
        return {"generator": name, "requests": REQUESTS}
    trace, block = TRACES[name]
    return {"trace": str(place.trace(trace)), "block": block}


def main(names: Sequence[str]) -> None:
    """Print a line for each cell of the whole grid."""
    shared = Path(os.environ.get("MILEPOST_SHARED", ROOT.parent / "shared"))
    placers = [name for name in EVERY_PLACER if name not in {"dense", SEER}]
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(Path(folder), shared)
        for name in names or (*TRACES, *GENERATED):
            figures = _figures(place, name, placers, list(EVICTION))
            for share, at in figures["bounded"].items():
                print(
                    f"{name} {share}: bound {at['bound']:.4f}, clairvoyant {at['planned']:.4f}, "
                    f"{at['best_others_are']} {at['best_of_others']:.4f}",
                    flush=True,
                )


PARTS = tuple(
    Part(
        f"foresight_{name}",
        GROUP,
        {"conversation": 12, "agents": 8}.get(name, 3),
        partial(_figures, name=name),
        (TRACES[name][0],) if name in TRACES else (),
    )
    for name in (*TRACES, *GENERATED)
)

if __name__ == "__main__":
    main(sys.argv[1:])
