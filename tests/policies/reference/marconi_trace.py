"""The side-by-side trace of the Marconi artifact: requests as rows of segment prefixes."""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from simulator.costs.profile import Profile, parse_profile
from simulator.trace.trace import Trace
from workloads.prefixes.interning import intern_runs

STATE_BYTES, KV_BYTES = 26_787_840, 65_536  # 24 SSM, 4 attention and 28 MLP layers, d 4096, n 128
GB = 10**9


@cache
def marconi_trace(folder: Path, requests: int) -> Trace:
    """Return the trace with its answers. Prompts are compared token by token."""
    rows = read_rows(folder, requests)
    keys, stops = [], []
    for prompt_tokens, tokens in marconi_tokens(folder, requests):
        names = prefix_names(tokens)
        keys += [names[:prompt_tokens], names]
        stops += [prompt_tokens, len(names)]
    offsets = np.cumsum([0, *stops])
    positions = np.concatenate([np.arange(1, stop + 1) for stop in stops])
    interned = intern_runs(np.concatenate(keys), positions, offsets)
    seconds = rows["ts"].to_numpy()
    return Trace(
        name=f"synth_{requests}",
        tree=interned.tree,
        leaf=interned.leaf[0::2],
        arrival_seconds=seconds - seconds[0],
        output_tokens=rows["out_len"].to_numpy().astype(np.int64),
        session=rows["session"].to_numpy(),
        label=np.full(len(rows), -1, dtype=np.int32),
        after=interned.leaf[1::2],
    )


@cache
def marconi_tokens(folder: Path, requests: int) -> list[tuple[int, np.ndarray]]:
    """Return for each request the tokens of its prompt, counted, and all with its answer."""
    tokens_of = cache(runpy.run_path(str(folder / "gen_trace.py"))["seg_tokens"])
    columns = ("in_seg", "in_len", "out_seg", "out_len")
    pairs = []
    for segments, lengths, *answer in read_rows(folder, requests).select(columns).iter_rows():
        parts = [tokens_of(*part) for part in zip(segments, lengths, strict=True)]
        pairs.append((sum(lengths), np.concatenate([*parts, tokens_of(*answer)])))
    return pairs


def read_rows(folder: Path, requests: int) -> pl.DataFrame:
    """Return the requests as they are written."""
    return pl.read_parquet(folder / f"synth_{requests}.requests.parquet")


def prefix_names(tokens: np.ndarray) -> np.ndarray:
    """Return 64 bits for each prefix: the sum of a hash of each token at its position."""
    with np.errstate(over="ignore"):
        x = tokens.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x ^= np.arange(1, len(tokens) + 1, dtype=np.uint64) * np.uint64(0xD6E8FEB86659FD93)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.cumsum(x ^ (x >> np.uint64(31)), dtype=np.uint64)


def marconi_profile() -> Profile:
    """Return the sizes of the reference's model; its seconds play no part."""
    return parse_profile(
        {
            "schema_version": 1,
            "profile_id": "marconi",
            "kind": "toy",
            "source": "sizes of the reference, seconds of no meaning",
            "licence": "none",
            "created": "2026-11-30",
            "hardware": {"name": "none"},
            "model": {"name": "marconi"},
            "state": {
                "ssm_bytes": 0,
                "conv_bytes": 0,
                "bytes_per_checkpoint": STATE_BYTES,
                "alignment": 1,
            },
            "kv": {"bytes_per_token": KV_BYTES, "block_tokens": 1},
            "prefill": {
                "F": {"n": [1, 10_000], "us": [1.0, 10_000.0]},
                "e_us_per_pair": 0.0,
                "valid": {"n_max": 100_000, "c_max": 100_000},
            },
            "checkpoint": {"cut_overhead": 0.0, "snapshot_us_per_mib": 0.0},
            "io": {"d2d": {"latency_us": 0.0, "gbps": 1e12}},
        },
        "marconi",
    )
