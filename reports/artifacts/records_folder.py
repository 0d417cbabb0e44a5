"""Files that `run --out DIR` writes: `records.parquet`, `study.resolved.toml`, `summary.json`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.files import make_folder, write_json, write_parquet
from reports.study.sections import ResolvedStudy
from reports.study.settings import to_toml
from reports.version import version, versions
from simulator.base.files import remove_leftovers, write_text

if TYPE_CHECKING:
    import polars as pl

    from simulator.results.result import Result
    from simulator.trace.trace import Trace

SCHEMA_VERSION = 1
POSITIONS = "checkpoint_positions"
FILES = ("records.parquet", "study.resolved.toml", "summary.json")


def write_records(
    folder: Path, study: ResolvedStudy, trace: Trace, result: Result, summary: dict[str, Any]
) -> None:
    """Write the records, the resolved study and the summary, each whole or not at all.

    Beside the columns of the result, `session` and `document` tell which requests depend on each
    other, and `checkpoint_positions` where the states lie that each has stored. The summary comes
    last and holds no wall-clock time: the same run gives the same bytes.
    """
    import polars as pl

    make_folder(folder)
    remove_leftovers(folder)
    request = result.columns["request"]
    context = {"session": trace.session[request], "document": documents(trace)[request]}
    records = pl.DataFrame(result.columns | context).with_columns(_positions(result))
    write_parquet(
        folder / "records.parquet", records.with_columns(pl.col("ttft_seconds").fill_nan(None))
    )
    write_text(folder / "study.resolved.toml", to_toml(study.absolute()))
    figures = {key: value for key, value in summary.items() if key != "wall_seconds"}
    head = {"schema_version": SCHEMA_VERSION, "provenance": provenance(study, trace)}
    write_json(folder / "summary.json", head | figures)


def _positions(result: Result) -> pl.Series:
    """Return where each request stored states, a list a row."""
    import polars as pl

    written = result.columns["checkpoints_written"]
    request = np.repeat(np.arange(len(written)), written)
    lists = pl.DataFrame({"row": request, POSITIONS: result.positions}).group_by(
        "row", maintain_order=True
    )
    every = pl.DataFrame({"row": np.arange(len(written))})
    rows = every.join(lists.agg(POSITIONS), on="row", how="left", maintain_order="left")[POSITIONS]
    return rows.fill_null(pl.lit([], dtype=pl.List(pl.Int64)))


def documents(trace: Trace) -> NDArray[np.int32]:
    """Return a number a request, int32: those with one number begin with the same tokens."""
    parent = trace.tree.parent
    top = np.where(parent > 0, parent, np.arange(len(parent), dtype=np.int32))
    while (top[top] != top).any():
        top = top[top]
    return top[trace.leaf]


def provenance(study: ResolvedStudy, trace: Trace) -> dict[str, Any]:
    """Return the inputs and versions of a run; `prompts_sha256` is the prefix tree's hash."""
    from reports.study.scenario import profile_named
    from reports.study.traces import file_sha256
    from simulator.costs.profile import profile_to_json

    source = study.workload.trace
    prompts = hashlib.sha256()
    for column in (trace.tree.parent, trace.tree.stop, trace.leaf):
        prompts.update(np.ascontiguousarray(column).data)
    profile = json.dumps(profile_to_json(profile_named(study.model.profile)), sort_keys=True)
    return {
        "milepost": version(),
        "versions": versions(),
        "trace_sha256": None if source is None else file_sha256(source),
        "prompts_sha256": prompts.hexdigest(),
        "profile_sha256": hashlib.sha256(profile.encode()).hexdigest(),
    }
