"""Cells and a manifest such as a sweep stores, with plausible numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reports.results.positions.columns import COUNTS
from simulator.results.records import LOSSES

GIB = 1 << 30
PLACERS = {  # placer -> saved share of prompt tokens with plenty of room
    "none": 0.0,
    "last": 0.35,
    "block:size=1024": 0.69,
    "balanced:budget=8": 0.52,
    "dyadic:first=768": 0.55,
    "sqrt": 0.66,
    "optimal:budget=8,window=100": 0.74,
    "branch": 0.81,
    "dense": 0.84,
}
CAPACITIES: tuple[int | None, ...] = (2 * GIB, 4 * GIB, 8 * GIB, 16 * GIB, None)
BLOCKS = 64


def sample(
    placers: Sequence[str] = tuple(PLACERS),
    capacities: Sequence[int | None] = CAPACITIES,
    replications: int = 3,
    requests: int = 6400,
    **manifest: Any,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return cells of every combination, and the manifest with some keys replaced."""
    cells = [
        _cell(placer, capacity, replication, requests)
        for placer in placers
        for capacity in capacities
        for replication in range(replications)
    ]
    return pl.DataFrame(cells, infer_schema_length=None), _manifest(replications) | manifest


def with_failures(cells: pl.DataFrame, failed: pl.Expr, error: str) -> pl.DataFrame:
    """Return the cells with every metric of the failed ones missing."""
    identity = cells.columns[: cells.columns.index("error")]
    metrics = cells.columns[cells.columns.index("error") + 1 :]
    return cells.select(
        *identity,
        pl.when(failed).then(pl.lit(error)).otherwise(None).alias("error"),
        *(pl.when(~failed).then(pl.col(name)).alias(name) for name in metrics),
    )


def _cell(placer: str, capacity: int | None, replication: int, requests: int) -> dict[str, Any]:
    shared = np.random.default_rng(replication)  # common random numbers
    own = np.random.default_rng([replication, len(placer), (capacity or 0) // GIB])
    blocks = min(BLOCKS, requests)
    prompt = shared.integers(300_000, 500_000, blocks)
    room = 1 - np.exp(-(capacity or 64 * GIB) / (5 * GIB))
    share = PLACERS.get(placer, 0.5) * room + shared.normal(scale=0.03, size=blocks)
    share = np.clip(share + own.normal(scale=0.008, size=blocks), 0, 0.9)
    saved = np.zeros_like(prompt) if placer == "none" else (share * prompt).astype(int)
    ttft = (0.05 + 0.4 * (1 - saved / prompt)) * 100
    held = min(capacity or 30 * GIB, 30 * GIB) * (1 - np.exp(-np.arange(1, blocks + 1) / 8))
    states = held * min(0.05 * len(placer), 0.45)
    total, hit = int(prompt.sum()), int(saved.sum())
    return {
        "cell": f"{placer}/{capacity}/{replication}",
        "replication": replication,
        "seed": 7 + 11 * replication,
        "placer": placer,
        "eviction": "lru",
        "admission": "always",
        "profile": "qwen3.5-9b-h200",
        "server": "queue",
        "capacity_bytes": capacity,
        "workload": "built-in",
        "error": None,
        "requests_total": requests,
        "requests_finished": requests,
        "requests_rejected": 0,
        "requests_unfinished": 0,
        "prompt_tokens": total,
        "saved_tokens": hit,
        "recomputed_tokens": total - hit,
        "token_hit_rate": hit / total if total else None,
        "ttft_mean_seconds": float(ttft.sum()) / (blocks * 100) if blocks else None,
        "ttft_p50_seconds": 0.11,
        "ttft_p90_seconds": 0.45,
        "ttft_p99_seconds": 1.25 if requests >= 368 else None,
        **_lost(total, hit, requests),
        **_lost_in_blocks(prompt - saved, max(requests // blocks, 1) if blocks else 0),
        "checkpoints_written": 9_000,
        "checkpoints_peak_count": 420,
        "checkpoints_peak_bytes": int(states.max(initial=0)),
        "checkpoints_mean_per_request": 1.4,
        "kv_peak_bytes": int((held - states).max(initial=0)),
        "kv_stranded_bytes_mean": float(0.1 * held.mean()) if blocks else None,
        "cache_peak_bytes": int(held.max(initial=0)),
        "cache_mean_bytes": float(held.mean() * own.uniform(0.9, 1)) if blocks else None,
        "extrapolated_requests": 0,
        "simulated_seconds": 3_600.0,
        "ideal_saved_tokens": int(0.86 * total),
        "bound_saved_tokens": int((0.86 if capacity is None else 0.85) * total),
        "unbounded_kv_bytes": 40 * GIB,
        "block_prompt_tokens": prompt.tolist(),
        "block_saved_tokens": saved.tolist(),
        "block_ttft_seconds": ttft.tolist(),
        "block_finished": [100] * blocks,
        "block_arrival_seconds": np.linspace(0, 3_500, blocks).tolist(),
        "block_kv_bytes": (held - states).astype(int).tolist(),
        "block_checkpoint_bytes": states.astype(int).tolist(),
        **(_positions(placer, own) if blocks else {}),
    }


def _positions(placer: str, own: np.random.Generator) -> dict[str, Any]:
    """Return where 9,000 states lie, half of each of two labels; none of placers without any."""
    states = 0 if placer in ("none", "dense") else 9_000
    kinds = own.multinomial(states, [0.4, 0.3, 0.0, 0.3]).tolist()
    octaves = {"start": 24, "end": 49, "branch": 49}
    weights = {point: np.exp(-((np.arange(n) - n // 2) ** 2) / 9) for point, n in octaves.items()}
    halves = [
        {point: own.multinomial(states // 2, w / w.sum()).tolist() for point, w in weights.items()}
        for _ in range(2)
    ]
    return {
        **dict(zip(COUNTS, kinds, strict=True)),
        "positions_words": f"`{placer}` stores {states / 6400:.2f} states a request",
        "positions_nearest": "no engine setting is near" if states else None,
        **{f"bins_from_{p}": np.sum([h[p] for h in halves], axis=0).tolist() for p in octaves},
        "bins_labels": ["chat", "task"] if states else [],
        **{f"bins_labels_from_{p}": [n for h in halves for n in h[p]] for p in octaves},
    }


def _lost(total: int, hit: int, requests: int) -> dict[str, int]:
    """Split the recomputed tokens, exactly."""
    left = total - hit
    lost = dict.fromkeys(LOSSES, 0)
    lost["last_token"] = min(requests, left)
    lost["never_seen"] = min(int(0.13 * total), left - lost["last_token"])
    rest = left - lost["last_token"] - lost["never_seen"]
    for loss, share in (("kv_evicted", 0.3), ("state_evicted", 0.15), ("alignment", 0.05)):
        lost[loss] = int(share * rest)
    lost["in_flight"] = int(0.02 * rest)
    lost["not_checkpointed"] = left - sum(lost.values())
    return {f"lost_{loss}_tokens": tokens for loss, tokens in lost.items()}


def _lost_in_blocks(left: NDArray[np.int64], requests: int) -> dict[str, list[int]]:
    """Split the recomputed tokens of each block, exactly."""
    lost = [_lost(int(tokens / 0.9), 0, requests) for tokens in left]
    columns = {f"block_{name}": [each[name] for each in lost] for name in lost[0]} if lost else {}
    columns = columns or {f"block_lost_{loss}_tokens": [] for loss in LOSSES}
    for number, tokens in enumerate(left.tolist()):
        rest = tokens - sum(column[number] for column in columns.values())
        columns["block_lost_never_seen_tokens"][number] += rest
    return columns


def _manifest(replications: int) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "title": "Where to checkpoint: shared documents, system prompts and chats",
        "command": "milepost sweep studies/demo.toml --out results/demo",
        "milepost_version": "0.1.0",
        "study": {"cache": {"capacity": "8 GiB"}, "policy": {"eviction": "lru"}},
        "grid": {"policy.placer": list(PLACERS), "cache.capacity": ["2 GiB", "unbounded"]},
        "baseline": "block:size=1024",
        "replications": replications,
        "seed": 7,
        "warmup_share": 0.1,
        "trace": {
            "name": "built-in",
            "requests": 6400,
            "prompt_tokens": 25_600_000,
            "granularity": 16,
            "sha256": None,
            "notes": [],
            "deterministic": False,
        },
        "profile": {
            "id": "qwen3.5-9b-h200",
            "kind": "composed",
            "source": "operator timings on an H200",
            "valid_n_max": 32_768,
            "valid_c_max": 131_072,
        },
        "failed": [],
        "versions": {"python": "3.11.7", "polars": "2.1.0"},
    }
