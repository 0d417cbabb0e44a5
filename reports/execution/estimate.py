"""Cost estimate of a sweep, for `sweep --dry-run`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reports.execution.runner import REQUESTS_PER_SECOND, START_SECONDS
from reports.execution.warmup import asks
from reports.study.cells import Cell, baseline_placer, expand, refuse_unfit
from reports.study.rounds import first_round, most_replications
from reports.study.settings import Settings
from reports.study.traces import TraceFacts, facts_of, load_trace

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
    lengths = {key: facts.requests for key, facts in facts_by_trace(cells).items()}
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


def facts_by_trace(cells: Iterable[Cell]) -> dict[str, TraceFacts]:
    """Return the facts of each workload by its key, each opened once.

    Raises
    ------
    UsageError, DataError
        Where one cannot be had, or does not have what the study asks of it.
    """
    facts: dict[str, TraceFacts] = {}
    for cell in cells:
        if cell.trace not in facts:
            facts[cell.trace] = facts_of(load_trace(cell.study, cell.seed), cell.study)
        own = facts[cell.trace]
        refuse_unfit(cell.study, own.name, has_arrivals=own.has_arrivals)
    return facts
