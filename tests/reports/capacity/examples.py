"""Small studies whose least capacity can be worked out, or tried out, in full."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.capacity.evidence import Trial
from reports.capacity.target import parse_target
from reports.study.layers import read_settings
from reports.study.settings import Settings
from simulator.costs.profile import profile_to_json
from tests.simulator.prompts import toy_profile

HIT_RATE = parse_target("token_hit_rate>=50%")

# Belady, Nelson and Shedler (1969): FIFO has 3 hits with three frames and 2 with four.
ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)


def trial(capacity: int, value: float, *, may: bool | None = None, sure: bool | None = None) -> Any:
    """Return a trial of a token hit rate, which is to be half or more."""
    met = value >= 0.5
    may, sure = met if may is None else may, met if sure is None else sure
    return Trial(capacity, value, may, met, sure, "none", ())


def study(folder: Path, *, server: str = "instant", **settings: Any) -> Settings:
    """Return a study of the anomaly: a block and a token each, a state of 10 B every 2 tokens.

    Each document takes 2 B of KV, 1 B for the rest of its prompt, and a state: three documents
    need less than 50 B, four more.
    """
    rows = [
        {
            "timestamp": 10_000 * number,
            "input_length": 3,
            "output_length": 1,
            "hash_ids": [2 * document, 2 * document + 1, 100 + number],
        }
        for number, document in enumerate(ANOMALY)
    ]
    (folder / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "toy.json").write_text(profile_to_json(toy_profile()))
    stated = {
        "workload.trace": str(folder / "trace.jsonl"),
        "workload.block": 1,
        "model.profile": str(folder / "toy.json"),
        "cache.cut": "span",
        "server.kind": server,
        "policy.placer": "block:size=2",
        "policy.eviction": "fifo",
        **settings,
    }
    return read_settings(None, [(key, value, "test") for key, value in stated.items()])


def toml(folder: Path, capacities: Sequence[object]) -> Path:
    """Write the same study as a file, and return its path."""
    study(folder)
    path = folder / "study.toml"
    path.write_text(
        f"""
        [workload]
        trace = "trace.jsonl"
        block = 1
        [model]
        profile = "toy.json"
        [cache]
        cut = "span"
        [server]
        kind = "instant"
        [policy]
        placer = "block:size=2"
        [grid]
        "policy.eviction" = ["fifo", "lru"]
        "cache.capacity" = {json.dumps(list(capacities))}
        """
    )
    return path
