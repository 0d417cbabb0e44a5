"""Digests of what the cells of the grid give, and the record of them.

`python -m tests.contracts.result_digests --write` records them anew: for policies that were added,
which changes no line of the record, or where results were meant to change. Traffic is drawn by
numpy, so another release of it may ask for a new record too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.study.scenario import build_scenario
from reports.study.traces import load_trace, with_times
from simulator.simulation import simulate
from tests.contracts.result_grid import (
    HERE,
    RECORDED_TRACES,
    REQUESTS,
    Cell,
    cells,
    study_of,
    workload,
)
from workloads.slicing.cutting import by_requests

if TYPE_CHECKING:
    from simulator.results.result import Result
    from simulator.trace.trace import Trace

RECORD = HERE / "results.json"

# What is digested: the columns and counters there were when the digests were first recorded.
COUNTS = (
    "request",
    "status",
    "prompt_tokens",
    "saved_tokens",
    "overlap_tokens",
    "kv_tokens",
    "lost_never_seen_tokens",
    "lost_last_token_tokens",
    "lost_in_flight_tokens",
    "lost_not_admitted_tokens",
    "lost_kv_evicted_tokens",
    "lost_not_checkpointed_tokens",
    "lost_alignment_tokens",
    "lost_state_evicted_tokens",
    "lost_not_served_tokens",
    "checkpoints_written",
    "checkpoints_resident",
    "checkpoint_bytes",
    "kv_bytes",
)
SECONDS = (
    "arrival_seconds",
    "wait_seconds",
    "restore_seconds",
    "prefill_seconds",
    "capture_seconds",
    "ttft_seconds",
)
COUNTERS = (
    "checkpoints_evicted",
    "checkpoint_peak_count",
    "checkpoint_peak_bytes",
    "kv_peak_bytes",
    "kv_evicted_bytes",
    "peak_bytes",
    "kv_bytes_per_token",
    "extrapolated_requests",
)
PARTS = (*COUNTS, *SECONDS, "positions", "counters", "simulated_seconds", "full_seconds")


def digest(cell: Cell) -> dict[str, str]:
    """Return the digest of each part of a cell's result, by the names in PARTS."""
    return _digest(run(cell))


def run(cell: Cell) -> Result:
    """Simulate a cell."""
    study = cell.study()
    trace = _trace(cell.traffic)
    if study.server.kind != "instant":
        trace = with_times(trace, study, study.study.seed)
    return simulate(trace, build_scenario(study))


@cache
def recorded() -> dict[str, dict[str, str]]:
    """Return the digests on record: cell -> part -> digest."""
    stored = json.loads(RECORD.read_text(encoding="utf-8"))
    parts = stored["parts"]
    return {
        name: dict(zip(parts, digests.split(), strict=True))
        for name, digests in stored["cells"].items()
    }


@cache
def _trace(traffic: str) -> Trace:
    study = study_of(workload(traffic))
    trace = load_trace(study, study.study.seed)
    return by_requests(trace, 0, REQUESTS) if traffic in RECORDED_TRACES else trace


def _digest(result: Result) -> dict[str, str]:
    columns = {name: _bytes(result.columns[name], "<i8") for name in COUNTS}
    columns |= {name: _bytes(result.columns[name], "<f8") for name in SECONDS}
    counters = {name: getattr(result.counters, name) for name in COUNTERS}
    full = result.full_seconds
    parts = columns | {
        "positions": _bytes(result.positions, "<i8"),
        "counters": json.dumps(counters).encode(),
        "simulated_seconds": float(result.simulated_seconds).hex().encode(),
        "full_seconds": b"none" if full is None else _bytes(full, "<f8"),
    }
    return {name: hashlib.sha256(parts[name]).hexdigest()[:8] for name in PARTS}


def _bytes(column: NDArray[Any], dtype: str) -> bytes:
    return np.ascontiguousarray(column).astype(dtype, casting="safe").tobytes()


def _write() -> None:
    """Record the digests of all cells, each of which must evict where it has a capacity."""
    digests, idle = {}, []
    for cell in cells():
        result = run(cell)
        digests[cell.name] = " ".join(_digest(result).values())
        evicted = result.counters.checkpoints_evicted or result.counters.kv_evicted_bytes
        if cell.capacity != "unbounded" and not evicted:
            idle.append(f"\n{cell.name}")
    if idle:
        raise SystemExit(f"state smaller capacities, for nothing is evicted from:{''.join(idle)}")
    text = json.dumps({"parts": PARTS, "cells": digests}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    print(f"{len(digests)} cells recorded in {RECORD}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="record the digests")
    parser.parse_args()
    _write()
