"""The folder of a `run --out`, opened."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.results.marks import COLUMN, marks_in
from reports.stored.records_folder import SCHEMA_VERSION
from reports.study.settings import flatten
from simulator.errors import DataError, UsageError, printable
from simulator.records import LOSSES

if TYPE_CHECKING:
    import polars as pl

Columns = dict[str, NDArray[Any]]
NEEDED = (
    "request",
    "status",
    "prompt_tokens",
    "saved_tokens",
    *(f"lost_{loss}_tokens" for loss in LOSSES),
    "ttft_seconds",
)
TIMES = ("arrival_seconds", "restore_seconds", "prefill_seconds", "capture_seconds")
DEPENDENCE = ("session", "document", *TIMES)  # may be absent


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, read back.

    Parameters
    ----------
    folder
        As the user named it.
    told
        Settings, trace and versions: dotted key -> value.
    warmup
        The share of the requests that does not count.
    columns
        Of all requests, warm-up included: NEEDED, and DEPENDENCE where the run tells them.
    marks
        Of its policies: why they are no fair competitors.
    load
        Of the server, as the summary has it; empty where it tells none.
    """

    folder: str
    told: dict[str, Any]
    warmup: float
    columns: Columns
    marks: tuple[str, ...] = ()
    load: dict[str, Any] = field(default_factory=dict)

    @property
    def prompts(self) -> str | None:
        """The hash of all prompts; None where the run does not tell it."""
        found = self.told.get("provenance.prompts_sha256")
        return None if found is None else str(found)

    def counted(self) -> Columns:
        """Return the columns without warm-up."""
        first = int(len(self.columns["request"]) * self.warmup)
        return {name: column[first:] for name, column in self.columns.items()}


def open_run(folder: Path) -> Run:
    """Read the folder of a run.

    Raises
    ------
    UsageError
        When the folder holds no finished run.
    DataError
        When a file is damaged or was written by a newer version.
    """
    summary = _read_summary(folder)
    told = dict(flatten(summary["scenario"] | _facts(summary)))
    warmup = told.get("study.warmup", 0.0)
    policies = {kind: told.get(f"policy.{kind}") for kind in ("placer", "eviction", "admission")}
    stored = summary.get(COLUMN)
    marks = marks_in(policies | ({} if stored is None else {COLUMN: ", ".join(map(str, stored))}))
    records = _read_records(folder / "records.parquet")
    return Run(str(folder), told, float(warmup), records, marks, _load(summary.get("server")))


def _load(server: Any) -> dict[str, Any]:
    """Return the figures of a server's load; those that are none are left out."""
    told = server if isinstance(server, dict) else {}
    return {name: value for name, value in told.items() if isinstance(value, int | float)}


def _read_summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_bytes())
    except FileNotFoundError:
        problem = f"no finished run here ({path.name} is missing)"
        raise UsageError(f"{printable(str(folder))}: {problem}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(str(path), "damaged: expected a summary in JSON") from error
    if not isinstance(summary, dict):
        raise DataError(str(path), "damaged: expected a summary in JSON")
    found = summary.get("schema_version", SCHEMA_VERSION)
    if found != SCHEMA_VERSION:
        problem = f"expected {SCHEMA_VERSION}, found {printable(repr(found))}"
        raise DataError(str(path), problem, field="schema_version")
    for name in ("scenario", "trace"):
        if not isinstance(summary.get(name), dict):
            raise DataError(str(path), "missing", field=name)
    _check_warmup(path, summary["scenario"])
    return summary


def _check_warmup(path: Path, scenario: dict[str, Any]) -> None:
    study = scenario.get("study", {})
    warmup = study.get("warmup", 0.0) if isinstance(study, dict) else None
    if isinstance(warmup, bool) or not isinstance(warmup, int | float) or not 0 <= warmup < 1:
        problem = f"expected a share below 1, found {printable(repr(warmup), 40)}"
        raise DataError(str(path), problem, field="scenario.study.warmup")


def _facts(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what tells the traces and the versions of two runs apart."""
    trace = {key: value for key, value in summary["trace"].items() if key != "notes"}
    return {"trace": trace, "provenance": summary.get("provenance", {})}


def _read_records(path: Path) -> Columns:
    import polars as pl

    try:
        records = pl.read_parquet(path, glob=False)
    except FileNotFoundError:
        problem = f"no finished run here ({path.name} is missing)"
        raise UsageError(f"{printable(str(path.parent))}: {problem}") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(str(path), "damaged: expected Parquet") from error
    names = [*NEEDED, *(name for name in DEPENDENCE if name in records.columns)]
    columns = {name: _array(path, records, name) for name in names}
    if (np.diff(columns["request"]) <= 0).any():
        raise DataError(str(path), "expected ascending numbers", field="request")
    return columns


def _array(path: Path, records: pl.DataFrame, name: str) -> NDArray[Any]:
    import polars as pl

    if name not in records.columns:
        raise DataError(str(path), "missing", field=name)
    column = records[name]
    if name in {"ttft_seconds", *TIMES} and column.dtype == pl.Float64:
        return column.fill_null(np.nan).to_numpy()
    if not column.dtype.is_integer() or column.null_count():
        found = f"{column.dtype}, {column.null_count()} nulls"
        raise DataError(str(path), f"expected whole numbers, found {found}", field=name)
    return column.cast(pl.Int64).to_numpy()
