"""Simulations whose results stay as they are: what is served, by which policies, in how much room.

A cell is a simulation. Lists of partners go round at their own pace, so that cells of one policy
differ in all else; a policy that is added to its list changes no other cell.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reports.study.file import parse_study
from reports.study.layers import read_settings
from reports.study.sections import ResolvedStudy

HERE = Path(__file__).parent

# Traffic: a generator, its drift and a seed; or a recorded trace, and its tokens a block.
REQUESTS = 1200
GENERATED = {
    "documents": ("documents:count=40,tokens_median=3000,openings=4", None, 1),
    "moving": ("documents:count=25,tokens_median=5000", "shift:distance=0.3", 2),
    "chats": ("chats:think_seconds_median=8", None, 3),
    "agents": ("agents:prefix_tokens_median=3000,tool_tokens_median=300", None, 4),
    "thoughts": ("thoughts:count=20,depth=3", None, 5),
    "mixture": ("0.5 documents:count=20,tokens_median=3000 + 0.5 chats", None, 6),
}
RECORDED_TRACES = {
    "conversation": ("mooncake/conversation_trace.jsonl.gz", None),
    "airline": ("tau_airline/tau_airline_gpt4o.jsonl.gz", 16),  # tells no times
    "questions": ("leval_docqa/leval_multi_q.jsonl.gz", 16),  # tells no times
}
PROFILES = {
    "hybrid": "qwen3.5-9b-h200",
    "fp8": "qwen3.5-0.8b-h200:kv=fp8",
    "recurrent": str(HERE / "profiles" / "recurrent.json"),
    "paged": str(HERE / "profiles" / "paged.json"),
}
SERVERS: dict[str, dict[str, Any]] = {
    "queue": {},
    "instant": {"server.kind": "instant"},
    "limited": {"server.queue_limit": 3},
    "stopped": {"server.horizon": 75.0},
}

# What the grid is about: each stands in several cells of its own.
PLACERS = (
    *("none", "last", "block:size=512", "block:size=2048", "dense", "balanced:budget=3", "sqrt"),
    *("dyadic", "dyadic:first=128", "random:budget=3", "published:budget=4", "marconi"),
    *("greedy:budget=3", "greedy:budget=3,scope=label,coordinate=end", "interval:every=700"),
    *("optimal:budget=3", "optimal:budget=2,scope=document,coordinate=auto", "thinned:budget=3"),
    *("robust:budget=3", "branch", "branch:first=768", "marconi:remember=true", "from_end"),
    *("from_end:offsets=0+128", "offsets:start=1024,end=0+200", "adaptive", "adaptive:rate=4"),
    *("clairvoyant", "last:where=answer", "last:where=both"),
    *("optimal:budget=2,decay=0.9,predict=trend", "optimal:budget=2,decay=0.9,predict=period"),
    *("unified", "unified:rate=2,aim=seconds"),
)
EVICTIONS = (
    *("fifo", "lru", "clock", "clock:bits=3", "lfu", "slru", "slru:protected=0.5", "two_q", "arc"),
    *("lirs", "lirs:hir=0.1,memory=1", "s3fifo", "sieve", "wtinylfu"),
    *("gdsf", "pgdsf", "split_lru", "ttl:seconds=20"),
    *("split_lru:first=states,refresh=path,parts=true", "ttl:seconds=5,refresh=true", "marconi"),
    *("seglen", "tail_lru", "reuse_probability", "session_aware", "coverage", "value", "belady"),
    *("belady:bypass=true", "clairvoyant", "unified", "unified:aim=seconds"),
)
ADMISSIONS = (
    *("always", "second_sighting", "size_aware:share=0.3", "probabilistic", "tinylfu"),
    *("tinylfu:sample=500,victims=each", "tinylfu:victims=all", "branch_only", "value"),
    "unified",
)
# What varies around them. Another partner deals all cells anew: leave these lists as they are.
PARTNERS = {
    "traffic": (*GENERATED, *RECORDED_TRACES),
    "placer": (
        *("adaptive", "branch", "block:size=1024", "marconi", "last", "dyadic", "adaptive"),
        *("balanced:budget=2", "branch:first=256", "optimal:budget=2"),
    ),
    "eviction": ("lru", "s3fifo", "gdsf", "marconi", "value", "split_lru", "arc"),
    "admission": (
        *("always", "always", "probabilistic:probability=0.9", "always", "tinylfu", "branch_only"),
    ),
    "server": ("queue", "instant", "queue", "instant", "limited", "queue", "instant", "stopped"),
    "cut": ("tail", "block", "run"),
    "profile": ("hybrid", "recurrent", "paged", "hybrid", "fp8"),
    "share": (0, 1),
}
CAPACITIES = {  # scarce ones: the cells with them evict
    "hybrid": ("600MiB", "2GiB"),
    "fp8": ("150MiB", "500MiB"),
    "recurrent": ("16MiB", "48MiB"),
    "paged": ("12MiB", "60MiB"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulation: what is served, by which policies, in how much room.

    Parameters
    ----------
    capacity
        As studies write it: a size, or "unbounded".
    more
        Further settings by dotted key.
    """

    traffic: str
    placer: str
    eviction: str
    admission: str
    server: str
    cut: str
    profile: str
    capacity: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a test of it is called."""
        settings = (self.traffic, self.placer, self.eviction, self.admission, self.server, self.cut)
        more = (f"{key.rpartition('.')[2]}={value}" for key, value in self.more.items())
        return "-".join((*settings, self.capacity, self.profile, *more))

    @property
    def is_replay(self) -> bool:
        """Whether its trace is a file of the reference data."""
        return self.traffic in RECORDED_TRACES

    def study(self) -> ResolvedStudy:
        """Return the study of this one simulation."""
        values = {
            "policy.placer": self.placer,
            "policy.eviction": self.eviction,
            "policy.admission": self.admission,
            "cache.capacity": self.capacity,
            "cache.evicts": self.cut,
            "model.profile": PROFILES[self.profile],
            **SERVERS[self.server],
            **self.more,
        }
        return study_of(workload(self.traffic) | values)


def cells() -> list[Cell]:
    """Return the grid."""
    dealt = [
        *_dealt("placer", PLACERS, 2),
        *_dealt("eviction", EVICTIONS, 4),
        *_dealt("eviction", EVICTIONS, 1, capacity="unbounded"),
        *_dealt("admission", ADMISSIONS, 4),
        *_dealt("admission", ("never",), 2, capacity="unbounded"),
    ]
    return [*dealt, *_aligned(), *_capped(), *_with_one_price()]


def _dealt(axis: str, subjects: Sequence[str], times: int, **fixed: Any) -> Iterator[Cell]:
    """Yield cells of each subject, none of which changes when another subject comes or goes.

    Its name says where in each list of partners it begins; each further cell takes the next.
    """
    for subject in subjects:
        for turn in range(times):
            chosen = {
                name: _partner(among, f"{subject} {name} {sorted(fixed)}", turn)
                for name, among in PARTNERS.items()
            }
            share = chosen.pop("share")
            chosen |= {"capacity": CAPACITIES[chosen["profile"]][share], axis: subject} | fixed
            yield Cell(**chosen)


def _partner(among: Sequence[Any], seed: str, turn: int) -> Any:
    return among[(zlib.crc32(seed.encode()) + turn) % len(among)]


def _aligned() -> Iterator[Cell]:
    """Yield cells whose checkpoints lie at multiples that the profile does not ask for."""
    for traffic, alignment in (("documents", 1), ("chats", 500), ("conversation", 384)):
        policies = ("adaptive", "lru", "always")
        more = {"model.alignment": alignment}
        yield Cell(traffic, *policies, "queue", "tail", "hybrid", "2GiB", more)


def _capped() -> Iterator[Cell]:
    """Yield cells with caps on the states of a prefix, and with caches of entries."""
    settings = (
        ("documents", "optimal:budget=3", "path:2", "tree"),
        ("mixture", "random:budget=3", "entry:2", "tree"),
        ("agents", "adaptive", "path:3", "tree"),
        ("chats", "last", "entry:1", "tree"),
        ("documents", "published:budget=4", None, "entries:last=20"),
        ("thoughts", "greedy:budget=3", "path:2", "entries:per_document=3"),
    )
    for traffic, placer, cap, kind in settings:
        more = {"cache.kind": kind} | ({} if cap is None else {"cache.states_per_prefix": cap})
        yield Cell(traffic, placer, "fifo", "always", "queue", "tail", "hybrid", "2GiB", more)


def _with_one_price() -> Iterator[Cell]:
    """Yield cells whose policies learn together what states are worth."""
    for traffic, server in (
        ("documents", "queue"),
        ("chats", "instant"),
        ("conversation", "queue"),
    ):
        policies = ("unified", "unified", "unified")
        yield Cell(traffic, *policies, server, "tail", "hybrid", "600MiB")


def shared() -> Path:
    """Return the folder of reference data, which need not be there."""
    return Path(os.environ.get("MILEPOST_SHARED", HERE.parents[2] / "shared"))


def workload(traffic: str) -> dict[str, Any]:
    """Return the settings of traffic."""
    if traffic in GENERATED:
        generator, drift, seed = GENERATED[traffic]
        values = {"generator": generator, "requests": REQUESTS, "drift": drift}
        rate = 12.0
    else:
        file, block = RECORDED_TRACES[traffic]
        values = {"trace": str(shared() / "data" / file), "block": block}
        rate, seed = (None if block is None else 8.0), 7
    settings = {f"workload.{name}": value for name, value in values.items()}
    settings |= {"arrivals.rate": rate, "study.seed": seed}
    return {key: value for key, value in settings.items() if value is not None}


def study_of(values: Mapping[str, Any]) -> ResolvedStudy:
    """Return the study of settings by dotted key."""
    return parse_study(
        read_settings(None, [(key, value, "--set") for key, value in values.items()])
    )
