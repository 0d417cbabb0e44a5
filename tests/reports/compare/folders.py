"""Folders of runs, written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from simulator.results.records import FINISHED, LOSSES, REJECTED


def write_run(
    folder: Path,
    prompt: Sequence[int],
    saved: Sequence[int],
    ttft: Sequence[float | None],
    *,
    session: Sequence[int] | None = None,
    scenario: dict[str, Any] | None = None,
    prompts: str = "p",
) -> Path:
    """Write a run: a request without a time to first token was rejected."""
    folder.mkdir()
    requests = len(prompt)
    finished = np.array([seconds is not None for seconds in ttft])
    left = np.array(prompt) - np.array(saved)
    columns: dict[str, Any] = {
        "request": np.arange(requests),
        "status": np.where(finished, FINISHED, REJECTED),
        "prompt_tokens": np.array(prompt),
        "saved_tokens": np.array(saved),
        **{f"lost_{loss}_tokens": np.zeros(requests, dtype=np.int64) for loss in LOSSES},
        "ttft_seconds": pl.Series(ttft, dtype=pl.Float64),
        "document": np.zeros(requests, dtype=np.int32),
    }
    columns["lost_kv_evicted_tokens"] = left
    if session is not None:
        columns["session"] = np.array(session, dtype=np.int32)
    pl.DataFrame(columns).write_parquet(folder / "records.parquet")
    summary = {
        "schema_version": 1,
        "provenance": {"milepost": "0.1.0", "prompts_sha256": prompts},
        "scenario": scenario or {"policy": {"placer": "last"}},
        "trace": {"name": "made", "requests": requests, "notes": []},
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder
