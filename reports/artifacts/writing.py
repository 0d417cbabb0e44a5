"""Writer and reader of a sweep's tables, `manifest.json` and `study.resolved.toml`.

All are made from the journal alone, in the order of the cells, and hold no wall-clock time: a
resumed sweep ends with the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.artifacts.journal import CellOutcome
from reports.artifacts.manifest import SCHEMA_VERSION, make_manifest
from reports.artifacts.sweep_documents import Manifest, check_cells
from reports.documents import read_document
from reports.files import write_csv, write_json, write_parquet
from reports.results.columns import column
from reports.results.marks import COLUMN, marks_of
from reports.study.cells import Cell
from reports.study.sections import ResolvedStudy
from reports.study.settings import to_toml
from reports.study.traces import TraceFacts
from reports.study.workload_grid import source_name
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.files import write_text

if TYPE_CHECKING:
    import polars as pl

PLAIN_COLUMNS = {  # grid keys that have a column under a name of their own
    "policy.placer": "placer",
    "policy.eviction": "eviction",
    "policy.admission": "admission",
    "model.profile": "profile",
    "server.kind": "server",
    "cache.capacity": "capacity_bytes",
}


def write_artifacts(
    folder: Path,
    study: ResolvedStudy,
    outcomes: Sequence[tuple[Cell, CellOutcome]],
    facts: Mapping[str, TraceFacts],
    baseline: str,
    command: str,
    reached: bool | None = None,
) -> None:
    """Write the tables and the manifest of a sweep.

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
    write_csv(folder / "cells.csv", cells)
    write_json(folder / "manifest.json", manifest)
    write_text(folder / "study.resolved.toml", to_toml(study.absolute()))


def read_artifacts(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
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
    manifest = read_document(paths[1], Manifest, "a manifest", SCHEMA_VERSION)[1]
    try:
        cells = pl.read_parquet(paths[0].read_bytes())  # its name may be no UTF-8
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(str(paths[0]), "damaged: expected Parquet") from error
    check_cells(cells, str(paths[0]))
    return cells, manifest


def cells_table(outcomes: Sequence[tuple[Cell, CellOutcome]]) -> pl.DataFrame:
    """Return one row a cell: identity, scenario, status, metrics, blocks."""
    import polars as pl

    rows = [_row(cell, outcome) for cell, outcome in outcomes]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame([column(name, [row.get(name) for row in rows]) for name in names])


def _row(cell: Cell, outcome: CellOutcome) -> dict[str, Any]:
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
        "workload": source_name(study.workload.trace, study.workload.generator),
        COLUMN: ", ".join(marks_of(study.policy.model_dump())),
    }
    if cell.draw is not None:
        row["draw"] = cell.draw
    row |= {key: v for key, v in cell.choice.items() if key not in PLAIN_COLUMNS}
    return {**row, "error": outcome.error, **(outcome.metrics or {})}
