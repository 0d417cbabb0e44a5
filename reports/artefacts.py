"""What a sweep leaves: `cells.parquet`, `manifest.json`, `study.resolved.toml`, `report.html`.

All are made from the journal alone, in the order of the cells, and hold no wall-clock time: a
resumed sweep ends with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.cells import Cell
from reports.files import write_json, write_parquet
from reports.journal import Outcome
from reports.metrics import BLOCK_COLUMNS
from reports.scenario import profile_named
from reports.settings import to_toml
from reports.study_file import Study
from reports.traces import TraceFacts, rate_note
from reports.version import version, versions
from simulator.errors import DataError, UsageError, printable
from simulator.files import write_text

if TYPE_CHECKING:
    import polars as pl

SCHEMA_VERSION = 1
MANIFEST_FIELDS = (
    "title",
    "command",
    "milepost_version",
    "study",
    "grid",
    "baseline",
    "replications",
    "seed",
    "warmup_share",
    "trace",
    "profile",
    "failed",
    "versions",
)
PLAIN_COLUMNS = {  # grid keys that have a column under a name of their own
    "policy.placer": "placer",
    "policy.eviction": "eviction",
    "policy.admission": "admission",
    "model.profile": "profile",
    "server.kind": "server",
    "cache.capacity": "capacity_bytes",
}


def write_artefacts(
    folder: Path,
    study: Study,
    outcomes: Sequence[tuple[Cell, Outcome]],
    facts: TraceFacts,
    baseline: str,
    command: str,
    reached: bool | None = None,
) -> None:
    """Write the results of a sweep, the page last.

    `reached` tells whether the intervals became as narrow as `study.until_ci` asks.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    cells = cells_table(outcomes)
    manifest = make_manifest(study, outcomes, facts, baseline, command)
    if reached is not None:
        manifest["until_ci"] = {"share": study.study.until_ci, "reached": reached}
    write_parquet(folder / "cells.parquet", cells)
    write_json(folder / "manifest.json", manifest)
    write_text(folder / "study.resolved.toml", to_toml(study.absolute()))
    write_page(folder, cells, manifest)


def write_page(folder: Path, cells: pl.DataFrame, manifest: dict[str, Any]) -> None:
    """Write `report.html`."""
    from reports.page import render_page

    write_text(folder / "report.html", render_page(cells, manifest))


def read_artefacts(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the cells and the manifest that a sweep left in `folder`.

    Raises
    ------
    UsageError
        When the folder holds no finished sweep.
    DataError
        When a file is damaged or was written by a newer version.
    """
    import polars as pl

    paths = folder / "cells.parquet", folder / "manifest.json"
    for path in paths:
        if not path.is_file():
            raise UsageError(
                f"{printable(str(folder))}: no finished sweep here ({path.name} is missing)"
            )
    try:
        manifest = json.loads(paths[1].read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(str(paths[1]), "damaged: expected a manifest in JSON") from error
    _check_manifest(manifest, str(paths[1]))
    try:
        return pl.read_parquet(paths[0]), manifest
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(str(paths[0]), "damaged: expected Parquet") from error


def _check_manifest(manifest: Any, source: str) -> None:
    """Refuse what is no manifest of this version."""
    if not isinstance(manifest, dict):
        raise DataError(source, "damaged: expected a manifest in JSON")
    found = manifest.get("schema_version")
    if found != SCHEMA_VERSION:
        problem = f"expected {SCHEMA_VERSION}, found {printable(repr(found))}"
        raise DataError(source, problem, field="schema_version")
    for name in MANIFEST_FIELDS:
        if name not in manifest:
            raise DataError(source, "missing", field=name)


def cells_table(outcomes: Sequence[tuple[Cell, Outcome]]) -> pl.DataFrame:
    """Return one row a cell: identity, scenario, status, metrics, blocks."""
    import polars as pl

    rows = [_row(cell, outcome) for cell, outcome in outcomes]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame(
        [pl.Series(name, values, dtype=_dtype(name, values)) for name, values in columns.items()]
    )


def make_manifest(
    study: Study,
    outcomes: Sequence[tuple[Cell, Outcome]],
    facts: TraceFacts,
    baseline: str,
    command: str,
) -> dict[str, Any]:
    """Return what a reader needs to judge and to repeat the study; no wall-clock time in it."""
    first = outcomes[0][0].study
    return {
        "schema_version": SCHEMA_VERSION,
        "title": study.title or f"Checkpoint placers on {facts.name}",
        "command": command,
        "milepost_version": version(),
        "study": study.resolved(),
        "grid": _grid(outcomes),
        "baseline": baseline,
        "replications": len({cell.replication for cell, _ in outcomes}),
        "seed": study.study.seed,
        "warmup_share": study.study.warmup,
        "trace": _trace(first, facts),
        "profile": _profile(first) | {"lossy": _lossy(outcomes)},
        "failed": [
            {"cell": cell.identity, "placer": cell.study.policy.placer, "error": outcome.error}
            for cell, outcome in outcomes
            if outcome.error is not None
        ],
        "versions": versions(),
    }


def _row(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    study = cell.study
    row = {
        "cell": cell.identity,
        "replication": cell.replication,
        "seed": cell.seed,
        "placer": study.policy.placer,
        "eviction": study.policy.eviction,
        "admission": study.policy.admission,
        "profile": study.model.profile,
        "server": study.server.kind,
        "capacity_bytes": study.cache.capacity,
        "workload": Path(study.workload.trace).name if study.workload.trace else "built-in",
    }
    if cell.draw is not None:
        row["draw"] = cell.draw
    row |= {key: v for key, v in cell.choice.items() if key not in PLAIN_COLUMNS}
    return {**row, "error": outcome.error, **(outcome.metrics or {})}


def _dtype(name: str, values: list[Any]) -> pl.DataType | type[pl.DataType] | None:
    """Return a type that does not depend on which cells failed or are unbounded."""
    import polars as pl

    number = pl.Float64 if name.endswith("_seconds") else pl.Int64
    if name in BLOCK_COLUMNS:
        return pl.List(number)
    if name in {"error", "profile", "placer"}:
        return pl.String
    if name in {"capacity_bytes", "bound_saved_tokens"}:
        return pl.Int64
    if name.endswith(("_seconds", "_rate", "_mean", "_mean_bytes", "_per_request")):
        return pl.Float64
    return pl.String if any(isinstance(value, str) for value in values) else None


def _grid(outcomes: Sequence[tuple[Cell, Outcome]]) -> dict[str, list[Any]]:
    """Return the values of each key of the grid, in order, policies in canonical spelling."""
    grid: dict[str, list[Any]] = {key: [] for key in outcomes[0][0].choice}
    for cell, _ in outcomes:
        for key, value in cell.choice.items():
            section, _, name = key.partition(".")
            shown = getattr(cell.study.policy, name) if section == "policy" else value
            if shown not in grid[key]:
                grid[key].append(shown)
    return grid


def _trace(study: Study, facts: TraceFacts) -> dict[str, Any]:
    notes = list(facts.notes)
    builtin = study.workload.trace is None
    notes += rate_note(study, has_arrivals=facts.has_arrivals)
    drawn = builtin or (not facts.has_arrivals and study.server.kind != "instant")
    return {
        "name": facts.name,
        "requests": facts.requests,
        "prompt_tokens": facts.prompt_tokens,
        "granularity": facts.granularity,
        "sha256": facts.sha256,
        "notes": notes,
        "deterministic": not drawn,
    }


def _profile(study: Study) -> dict[str, Any]:
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


def _lossy(outcomes: Sequence[tuple[Cell, Outcome]]) -> dict[str, str]:
    """Return what each profile with compressed KV keeps of it, in words."""
    names = dict.fromkeys(cell.study.model.profile for cell, _ in outcomes)
    kept = {name: profile_named(name).kv_compression for name in names}
    return {name: compression.described() for name, compression in kept.items() if compression}
