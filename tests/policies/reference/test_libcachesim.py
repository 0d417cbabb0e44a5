"""Flat object mode: exact against libCacheSim 0.3.5."""

from __future__ import annotations

import hashlib
import json
from functools import cache

import numpy as np
import polars as pl
import pytest

from policies.objects import ObjectStream, replay
from policies.objects.libcachesim import RULES, spelled_out
from policies.registry import create
from simulator.base.errors import UsageError
from tests.policies.eviction.flat import hits
from tests.policies.eviction.hand import WORLD

# Names in the reference, and the policy that reproduces it exactly.
REFERENCE = {
    "LRU": "lru",
    "FIFO": "fifo",
    "Clock": "clock",
    "SLRU": "slru:rules=libcachesim",
    "TwoQ": "two_q:rules=libcachesim",
    "ARC": "arc:rules=libcachesim",
    "LIRS": "lirs:rules=libcachesim",
    "S3FIFO": "s3fifo:rules=libcachesim",
    "Sieve": "sieve",
    "GDSF": "gdsf",
    "Belady": "belady",
}
# Policies of the papers that agree with the reference wherever all sizes are equal.
REFERENCE_UNIFORM = {"TwoQ": "two_q", "ARC": "arc", "LFU": "lfu"}


@cache
def reference(folder):
    return json.loads((folder / "fixture_libcachesim.json").read_text())["results"]


@cache
def stream_of(folder, trace):
    name, _, sizes = trace.rpartition("_")
    table = pl.read_parquet(folder / f"fixture_{name}.parquet")
    stream = ObjectStream.of(table["obj_id"].to_numpy(), table["size"].to_numpy())
    return stream.uniform() if sizes == "uniform" else stream


def cells(folder, algorithm, suffix=""):
    rows = [row for row in reference(folder) if row["algo"] == algorithm and "hits" in row]
    return [row for row in rows if row["trace"].endswith(suffix)]


def agrees(folder, row, spec):
    outcome = replay(
        stream_of(folder, row["trace"]), create("eviction", spelled_out(spec)), row["cap_bytes"]
    )
    digest = hashlib.sha256(np.packbits(outcome.hit).tobytes()).hexdigest()[:16]
    assert (outcome.hits, outcome.misses, outcome.hit_bytes, digest) == tuple(
        row[key] for key in ("hits", "misses", "hit_bytes", "hit_sha256")
    ), (spec, row["trace"], row["cap_bytes"])


@pytest.mark.parametrize("algorithm", REFERENCE)
def test_exact_against_the_reference(algorithm, shared):
    folder = shared / "reference" / "object_cache"
    rows = cells(folder, algorithm)
    assert len(rows) == 12
    for row in rows:
        agrees(folder, row, REFERENCE[algorithm])


@pytest.mark.parametrize("algorithm", REFERENCE_UNIFORM)
def test_the_papers_policies_agree_where_sizes_are_equal(algorithm, shared):
    folder = shared / "reference" / "object_cache"
    rows = cells(folder, algorithm, "uniform")
    assert len(rows) == 6
    for row in rows:
        agrees(folder, row, REFERENCE_UNIFORM[algorithm])


def test_slru_of_the_reference_fills_upper_segments_first():
    # Four segments of 1: A, B, C, D fill them upwards, so E takes A, the only one in the lowest.
    assert hits("slru:rules=libcachesim", "ABCD E B C D A", 4) == "000001110"
    assert hits("slru:rules=libcachesim", "A A", 7, A=2) == "00"  # larger than a segment


def test_s3fifo_of_the_reference_fills_the_main_queue_first():
    # Small 2 of 4: A, B. C and D enter main while it fills; E takes A.
    policy = "s3fifo:small=0.5,memory=0.5,rules=libcachesim"
    assert hits(policy, "ABCD E C D B A", 4) == "000001110"


def test_s3fifo_makes_room_for_what_it_then_refuses():
    # Small 2 of 20: A and B fill it, C to T enter main. Z, as large as the small queue, takes A
    # and B and stays out; smaller or larger ones would not.
    requests = "ABCDEFGHIJKLMNOPQRST"
    for size, last in ((1, "1"), (2, "0"), (3, "1")):
        flags = hits("s3fifo:rules=libcachesim", requests + "Z B", 20, Z=size)
        assert flags == "0" * 21 + last, size


def test_an_object_keeps_the_size_with_which_it_came_in():
    stream = ObjectStream.of(["a", "b", "a", "b"], [10, 10, 90, 10])
    policy = create("eviction", spelled_out("arc:rules=libcachesim"))
    assert replay(stream, policy, 100).hit.tolist() == [False, False, True, True]


@pytest.mark.parametrize("policy", RULES.values())
def test_these_rules_are_for_flat_objects_only(policy):
    with pytest.raises(UsageError, match="`milepost objects` only"):
        policy().begin(WORLD)


def test_the_rules_may_stand_anywhere_among_the_parameters():
    expected = "policies.objects.libcachesim:LibS3Fifo:small=0.2,promote=1"
    for spec in (
        "rules=libcachesim,small=0.2,promote=1",
        "small=0.2, rules=libcachesim ,promote=1",
    ):
        assert spelled_out(f"s3fifo:{spec}") == expected
    for spec in ("s3fifo:small=0.2", "lru:rules=libcachesim", "s3fifo:rules=mine", "lru"):
        assert spelled_out(spec) == spec
