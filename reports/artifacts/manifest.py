"""Contents of `manifest.json`: what a reader needs to judge and to repeat a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.artifacts.journal import CellOutcome
from reports.study.capacities import small_capacities
from reports.study.cells import Cell
from reports.study.scenario import profile_named
from reports.study.sections import AUTO, ResolvedStudy
from reports.study.traces import TraceFacts, notes_of
from reports.study.workload_grid import WORKLOADS, source_name
from reports.version import version, versions

SCHEMA_VERSION = 1


def make_manifest(
    study: ResolvedStudy,
    outcomes: Sequence[tuple[Cell, CellOutcome]],
    facts: Mapping[str, TraceFacts],
    baseline: str,
    command: str,
) -> dict[str, Any]:
    """Return what a reader needs to judge and to repeat the study; no wall-clock time in it.

    `facts` are by the key of the trace. `trace` tells of the first workload, and `workloads`,
    where there are several, of each by its name.
    """
    first = outcomes[0][0]
    workloads = _by_workload(outcomes)
    traces = {
        name: _trace(cells[0].study, facts[cells[0].trace]) for name, cells in workloads.items()
    }
    shares = {
        name: max(cell.study.study.warmup_share for cell in cells)
        for name, cells in workloads.items()
    }
    small = small_capacities(cell.study for cell, _ in outcomes)
    return {
        "schema_version": SCHEMA_VERSION,
        "title": study.title or f"Checkpoint placers on {_on(traces)}",
        "command": command,
        "milepost_version": version(),
        "study": study.resolved(),
        "grid": _grid(outcomes),
        "baseline": baseline,
        "replications": len({cell.replication for cell, _ in outcomes}),
        "seed": study.study.seed,
        "warmup_share": max(shares.values()),
        **({"warmup_auto": shares} if study.study.warmup == AUTO else {}),
        "trace": _trace(first.study, facts[first.trace]),
        **({"workloads": traces} if len(traces) > 1 else {}),
        "profile": _profile(first.study) | {"lossy": _lossy(outcomes)},
        "failed": [
            {"cell": cell.identity, "placer": cell.study.policy.placer, "error": outcome.error}
            for cell, outcome in outcomes
            if outcome.error is not None
        ],
        **({"capacity_notes": small} if small else {}),
        "versions": versions(),
    }


def _on(traces: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the subject of a study that has no title."""
    if len(traces) > 1:
        return f"{len(traces)} workloads"
    return str(next(iter(traces.values()))["name"])


def _grid(outcomes: Sequence[tuple[Cell, CellOutcome]]) -> dict[str, list[Any]]:
    """Return the values of each key of the grid, in order, policies in canonical spelling."""
    grid: dict[str, list[Any]] = {key: [] for key in outcomes[0][0].choice}
    for cell, _ in outcomes:
        for key, value in cell.choice.items():
            section, _, name = key.partition(".")
            shown = getattr(cell.study.policy, name) if section == "policy" else value
            if shown not in grid[key]:
                grid[key].append(shown)
    return grid


def _by_workload(outcomes: Sequence[tuple[Cell, CellOutcome]]) -> dict[str, list[Cell]]:
    """Return the cells of each workload, by its name; by its path where two files share a name."""
    files = {cell.study.workload.trace for cell, _ in outcomes}
    short = [Path(file).name for file in files if file is not None]
    cells: dict[str, list[Cell]] = {}
    for cell, _ in outcomes:
        cells.setdefault(_workload(cell, short), []).append(cell)
    return cells


def _workload(cell: Cell, short: Sequence[str]) -> str:
    """Return what a cell's workload is, and what else the grid varies of it."""
    if WORKLOADS in cell.choice:
        return str(cell.choice[WORKLOADS])
    workload = cell.study.workload
    name = source_name(workload.trace, workload.generator)
    if short.count(name) > 1:
        name = str(workload.trace)
    varied = {key.partition(".")[2]: v for key, v in cell.choice.items() if key in _knobs(cell)}
    return ", ".join([name, *(f"{key} {value}" for key, value in varied.items())])


def _knobs(cell: Cell) -> set[str]:
    """Return the keys of the grid that change a workload and are not its name."""
    names = {f"{WORKLOADS}.trace", f"{WORKLOADS}.generator"}
    return {key for key in cell.choice if key.startswith(f"{WORKLOADS}.")} - names


def _trace(study: ResolvedStudy, facts: TraceFacts) -> dict[str, Any]:
    builtin = study.workload.trace is None
    drawn = builtin or (not facts.has_arrivals and not study.server.timeless)
    return {
        "name": facts.name,
        "requests": facts.requests,
        "prompt_tokens": facts.prompt_tokens,
        "granularity": facts.granularity,
        "sha256": facts.sha256,
        "notes": notes_of(study, facts),
        "deterministic": not drawn,
    }


def _profile(study: ResolvedStudy) -> dict[str, Any]:
    profile = profile_named(study.model.profile)
    return {
        "id": study.model.profile,
        "kind": profile.kind,
        "scale": profile.model.scale,
        "source": profile.source,
        "valid_n_max": profile.valid_n_max,
        "valid_c_max": profile.valid_c_max,
        "band": profile.validation and profile.validation.band,
        "warnings": list(profile.validation.warnings) if profile.validation else [],
        "draws": study.model.draws,
    }


def _lossy(outcomes: Sequence[tuple[Cell, CellOutcome]]) -> dict[str, str]:
    """Return what each profile that loses some of KV or states keeps of them, in words."""
    names = dict.fromkeys(cell.study.model.profile for cell, _ in outcomes)
    kept = {name: profile_named(name).lossy for name in names}
    return {name: words for name, words in kept.items() if words}
