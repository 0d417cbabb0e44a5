"""Token counts of real traces, against a naive count over a set of block ids."""

from __future__ import annotations

import gzip
import json
from functools import partial

import pytest

from policies.admission import ADMISSION
from policies.eviction import EVICTION
from simulator.simulation import Scenario, simulate
from tests.simulator.placers import Everywhere, Wanted
from tests.simulator.prompts import toy_profile
from workloads.opening import open_trace

TRACES = {
    "mooncake/conversation_trace.jsonl.gz": (512, 0.3736, 0.3497),
    "mooncake/synthetic_trace.jsonl.gz": (512, 0.6512, 0.5088),
    "system_prompts/system_prompts.jsonl.gz": (16, 0.9542, None),
    "leval_docqa/leval_quality.jsonl.gz": (16, 0.9112, 0.0),
    "tau_airline/tau_airline_gpt4o.jsonl.gz": (16, None, 0.8992),
}


def naive_saved(path, block):
    """Return saved tokens with a state everywhere, and with states at prompt ends only."""
    seen: set[int] = set()
    ends: set[int] = set()
    everywhere = at_ends = prompt_tokens = 0
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            length, ids = row["input_length"], row["hash_ids"]
            blocks = 0
            while blocks < len(ids) and ids[blocks] in seen:
                blocks += 1
            everywhere += min(blocks * block, length - 1)
            usable = range(min(blocks, (length - 1) // block), 0, -1)
            at_ends += next((k * block for k in usable if ids[k - 1] in ends), 0)
            prompt_tokens += length
            seen.update(ids)
            ends.update(ids[length // block - 1 : length // block])
    return everywhere, at_ends, prompt_tokens


@pytest.mark.parametrize("name", TRACES)
def test_saved_tokens_are_exact(shared, name):
    block, everywhere_rate, ends_rate = TRACES[name]
    path = shared / "data" / name
    trace = open_trace(path, block=block)
    everywhere, at_ends, prompt_tokens = naive_saved(path, block)
    for placer, saved, rate in (
        (Everywhere, everywhere, everywhere_rate),
        (partial(Wanted, end=True), at_ends, ends_rate),
    ):
        scenario = Scenario(
            profile=toy_profile(),
            placer=placer,
            eviction=EVICTION["lru"],
            admission=ADMISSION["always"],
            server="instant",
        )
        summary = simulate(trace, scenario).summary()
        assert summary["saved_tokens"] == saved
        assert summary["prompt_tokens"] == prompt_tokens
        if rate is not None:
            assert round(summary["token_hit_rate"], 4) == rate
