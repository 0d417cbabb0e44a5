"""What a sweep would take: `sweep --dry-run`."""

from __future__ import annotations

from typing import Any

from reports.execution.warmup import asks
from reports.study.cells import Cell, baseline_placer, expand, refuse_unfit
from reports.study.rounds import first_round, most_replications
from reports.study.settings import Settings
from reports.study.traces import load_trace

# Measured on two shared cores: a simulation with clock, cache and records, and a worker's start.
REQUESTS_PER_SECOND = 15_000
START_SECONDS = 2.0
REQUEST_BYTES = 40  # of a stored workload
CELL_BYTES = 15_000  # of the journal, the table and the page
PAGE_BYTES = 1_500_000


def estimate(settings: Settings, jobs: int) -> dict[str, Any]:
    """Return cells, requests, minutes and disk of a sweep, without simulating anything.

    Of a study with `until_ci` they are those of the first round.

    Raises
    ------
    UsageError, DataError
        As the sweep itself would.
    """
    study, cells = expand(settings)
    baseline = baseline_placer(study, cells)
    lengths = _lengths(cells)
    replayed = [*cells, *asks(cells)]  # a warm-up that is to be found is looked for first
    requests = sum(lengths[cell.trace] for cell in replayed)
    replications = first_round(study)
    jobs = min(jobs, len(cells))
    seconds = START_SECONDS + requests / REQUESTS_PER_SECOND / jobs
    stored = sum(lengths.values()) * REQUEST_BYTES
    return {
        "cells": len(cells),
        "scenarios": len(cells) // replications,
        "replications": replications,
        "max_replications": most_replications(study),
        "baseline": baseline,
        "requests": requests,
        "jobs": jobs,
        "minutes": round(seconds / 60, 2),
        "disk_bytes": stored + len(cells) * CELL_BYTES + PAGE_BYTES,
    }


def _lengths(cells: list[Cell]) -> dict[str, int]:
    """Return the requests of each workload."""
    lengths: dict[str, int] = {}
    for cell in cells:
        if cell.trace not in lengths:
            trace = load_trace(cell.study, cell.seed)
            refuse_unfit(cell.study, trace.name, has_arrivals=trace.arrival_seconds is not None)
            lengths[cell.trace] = len(trace)
    return lengths
