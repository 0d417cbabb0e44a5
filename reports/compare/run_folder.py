"""The folder of a `run --out`, opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reports.artifacts.records_folder import SCHEMA_VERSION
from reports.documents import Text, read_document
from reports.results.marks import COLUMN, POLICIES, marks_in
from reports.study.renamed import current
from reports.study.settings import flatten
from simulator.base.errors import DataError, UsageError, printable
from simulator.results.records import LOSSES

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
MOST_TOKENS = 1 << 40  # of a request: sums stay within 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, read back."""

    folder: str  # as the user named it
    facts: dict[str, Any]  # settings, trace and versions: dotted key -> value
    warmup: float  # the share of the requests that does not count
    # of all requests, warm-up included: NEEDED, and DEPENDENCE where the run tells them
    columns: Columns
    marks: tuple[str, ...] = ()  # of its policies: why they are no fair competitors
    # the server's load as in the summary; empty where there is none
    load: dict[str, Any] = field(default_factory=dict)

    @property
    def prompts(self) -> str | None:
        """The hash of all prompts; None where the run does not tell it."""
        hashed = self.facts.get("provenance.prompts_sha256")
        return None if hashed is None else str(hashed)

    def counted(self) -> Columns:
        """Return the columns without warm-up."""
        first = int(len(self.columns["request"]) * self.warmup)
        return {name: column[first:] for name, column in self.columns.items()}


class _Study(msgspec.Struct, frozen=True):
    warmup: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0


class _Scenario(msgspec.Struct, frozen=True):
    study: _Study | None = None


class _Summary(msgspec.Struct, frozen=True):
    """The checked fields of a summary; scenario, trace and provenance are compared as a whole."""

    scenario: _Scenario
    trace: dict[str, Any]
    provenance: dict[str, Any] | None = None
    server: dict[str, Any] | None = None
    marks: list[Text] | None = None


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
    facts = current(dict(flatten(summary["scenario"]))) | dict(flatten(_facts(summary)))
    warmup = facts.get("study.warmup", 0.0)
    policies = {kind: facts.get(f"policy.{kind}") for kind in POLICIES}
    stored = summary.get(COLUMN)
    marks = marks_in(policies | ({} if stored is None else {COLUMN: ", ".join(map(str, stored))}))
    records = _read_records(folder / "records.parquet")
    return Run(str(folder), facts, float(warmup), records, marks, _load(summary.get("server")))


def _load(server: Any) -> dict[str, Any]:
    """Return the figures of a server's load; those that are none are left out."""
    figures = server if isinstance(server, dict) else {}
    return {name: value for name, value in figures.items() if isinstance(value, int | float)}


def _read_summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    if not path.is_file():
        problem = f"no finished run here ({path.name} is missing)"
        raise UsageError(f"{printable(str(folder))}: {problem}")
    return read_document(path, _Summary, "a summary", SCHEMA_VERSION, unversioned=True)[1]


def _facts(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the facts by which traces and versions of two runs are compared."""
    trace = {key: value for key, value in summary["trace"].items() if key != "notes"}
    return {"trace": trace, "provenance": summary.get("provenance") or {}}


def _read_records(path: Path) -> Columns:
    import polars as pl

    try:
        records = pl.read_parquet(path.read_bytes())  # its name may be no UTF-8
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
        seconds = column.fill_null(np.nan).to_numpy()
        if (np.isinf(seconds) | (seconds < 0)).any():
            raise DataError(str(path), "expected seconds, 0 or more", field=name)
        return seconds
    if not column.dtype.is_integer() or column.null_count():
        shown = f"{column.dtype}, {column.null_count()} nulls"
        raise DataError(str(path), f"expected whole numbers, found {shown}", field=name)
    whole = column.cast(pl.Int64, strict=False)
    least = -1 if name in DEPENDENCE else 0
    if whole.null_count() or (whole < least).any() or (whole > MOST_TOKENS).any():
        problem = f"expected whole numbers from {least} to {MOST_TOKENS:,}"
        raise DataError(str(path), problem, field=name)
    return whole.to_numpy()
