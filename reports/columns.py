"""Descriptions of every column of the stored tables: the one source of `docs/columns.md`.

`python -m reports.columns` prints that page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reports.charts.bars import FATES_IN_ORDER
from reports.results.positions.columns import POINTS
from simulator.results.records import LOSSES

_BECAUSE = {"never_seen": "no earlier prompt shared them: no cache can save them"}
LOST = {
    f"lost_{fate.key}_tokens": f"prompt tokens not saved, as {_BECAUSE.get(fate.key, fate.meaning)}"
    for fate in FATES_IN_ORDER
    if fate.key in LOSSES
}

RECORDS: Mapping[str, str] = {
    "request": "its place in the trace, from 0",
    "status": "1: finished; 2: rejected, the queue being full, or, where running requests count, "
    "the cache too small for it; 3: unfinished at the horizon",
    "prompt_tokens": "tokens of the prompt",
    "saved_tokens": "prompt tokens that were not computed: the resume point",
    "overlap_tokens": "prompt tokens that an earlier prompt had too, from the start",
    "kv_tokens": "depth to which the cache held the KV of the prompt when the prefill started",
    **LOST,
    "checkpoints_written": "states that the request stored",
    "checkpoints_resident": "states in the cache after the request",
    "checkpoint_bytes": "what they weigh",
    "kv_bytes": "KV in the cache after the request, in bytes",
    "replica": "the replica that it was sent to, from 0",
    "arrival_seconds": "when the request arrives, from the first one on",
    "wait_seconds": "from the arrival to the start of the prefill",
    "restore_seconds": "copying the state that is resumed from",
    "prefill_seconds": "computing the tokens that were not saved",
    "capture_seconds": "copying the states that are stored",
    "ttft_seconds": "time to first token, the sum of the four; empty where it did not finish",
    "session": "the conversation that the request belongs to; -1 where the trace tells none",
    "document": "a number that prompts share which begin with the same tokens",
    "checkpoint_positions": "where the states lie that the request stored, a list of tokens from "
    "the start, ascending",
}

CELLS: Mapping[str, str] = {
    "cell": "hash of everything that the result depends on",
    "replication": "counted from 0",
    "seed": "of the workload, the same for every policy of a replication",
    "placer": "the placement policy with its parameters, in canonical spelling",
    "eviction": "the eviction policy",
    "admission": "the admission policy",
    "profile": "the cost profile",
    "server": "`queue` or `instant`",
    "capacity_bytes": "the byte budget of KV and checkpoints; empty where it is unbounded",
    "workload": "name of the trace file, or the generator",
    "marks": "why its policies are no fair competitors: `upper bound`, `looks ahead`, or nothing",
    "draw": "which draw of the profile's coefficients, with `model.draws`",
    "error": "why the cell failed; empty where it did not",
    "requests_total": "requests that count: all but the warm-up",
    "requests_finished": "of these, served to the first token",
    "requests_rejected": "of these, turned away, the queue being full, or, where running requests "
    "count, the cache too small for it",
    "requests_unfinished": "of these, not served at the horizon",
    "prompt_tokens": "sum over the requests that count",
    "saved_tokens": "prompt tokens that were not computed",
    "recomputed_tokens": "prompt tokens of served requests that were computed",
    "token_hit_rate": "saved_tokens / prompt_tokens; empty without prompt tokens",
    "ttft_mean_seconds": "mean time to first token of the requests that finished",
    "ttft_pN_seconds": "the N-th percentile of the same, such as p50 and p99; empty where too few "
    "requests finished to tell",
    **LOST,
    "checkpoints_written": "states that the requests that count stored",
    "checkpoints_evicted": "states that left the cache, over the whole run",
    "checkpoints_peak_count": "most states at one time, over the whole run",
    "checkpoints_peak_bytes": "most bytes of states at one time, over the whole run",
    "checkpoints_mean_per_request": "checkpoints_written / requests_finished",
    "checkpoints_saved_tokens_each": "saved_tokens / checkpoints_written, the savings per "
    "checkpoint; empty where none was written",
    "kv_peak_bytes": "most bytes of KV at one time, over the whole run",
    "kv_evicted_bytes": "KV that left the cache, in bytes, over the whole run",
    "kv_stranded_bytes_mean": "KV that matched beyond the resume point, in bytes, mean of the "
    "requests that finished",
    "cache_peak_bytes": "most bytes of KV and states at one time, over the whole run",
    "cache_mean_bytes": "bytes of KV and states after each request that counts, mean",
    "pool_kv_capacity_bytes": "of split pools, the capacity of that of KV; empty where it is "
    "unbounded, and where one pool holds all, as are the next five",
    "pool_kv_peak_bytes": "most bytes of KV in it at one time, what running requests hold included "
    "where that counts, over the whole run",
    "pool_kv_evicted_bytes": "KV that left it, in bytes, over the whole run; the tokens that were "
    "lost by it are lost_kv_evicted_tokens",
    "pool_states_capacity_bytes": "the capacity of the pool of states",
    "pool_states_peak_bytes": "most bytes of states in it at one time, likewise",
    "pool_states_evicted": "states that left it, over the whole run; the tokens that were lost by "
    "it are lost_state_evicted_tokens",
    "extrapolated_requests": "requests of the whole run with a time beyond what the profile covers",
    "offered_load": "seconds of service that arrive per second: above 1 the queue grows for ever",
    "offered_load_nothing_saved": "the same with each prompt computed in full",
    "offered_load_last_half": "offered_load of the last half of the time",
    "server_utilisation": "share of the time in which the server was busy",
    "wait_last_quarter_seconds": "mean wait of those that arrive in the last quarter of the time",
    "queue_grows": "whether waits grow to the end: then mean times depend on how long the run is",
    "simulated_seconds": "from the first arrival to the end of the last prefill",
    "ideal_saved_tokens": "saved by an unbounded cache with a state everywhere, requests one after "
    "another",
    "memory_requests": "for how many requests a request is remembered (sessions, queue, bursts): "
    "what intervals of a single replay rest on",
    "bound_saved_tokens": "what no policy whose states take memory can exceed at this capacity; "
    "empty where it is not known",
    "unbounded_kv_bytes": "KV of all prompts of the trace, each token once",
    "block_prompt_tokens": "prompt tokens",
    "block_saved_tokens": "saved tokens",
    "block_ttft_seconds": "sum of the times to first token of the requests that finished",
    "block_finished": "requests that finished",
    "block_arrival_seconds": "arrival of the first request",
    "block_kv_bytes": "KV in the cache after the last request, in bytes",
    "block_checkpoint_bytes": "states in the cache after the last request, in bytes",
    **{f"block_{name}": text for name, text in LOST.items()},
    "positions_at_end": "states that were stored at the end of the prompt, as floored",
    "positions_at_branch": "of the others, those where prompts had been seen to diverge or to end",
    "positions_in_answer": "states that lie behind the prompt, in its answer",
    "positions_elsewhere": "all other states that were stored",
    "positions_words": "one sentence on where states lie",
    "positions_nearest": "the engine setting that is nearest to it; empty where none was stored",
    "bins_from_start": "states by tokens from the start, 24 octaves: 1, 2 to 3, 4 to 7, ..., from "
    "8,388,608 on",
    "bins_from_end": "states by tokens from the end of the prompt, 49 octaves: 24 before it, from "
    "the furthest on, at it, 24 behind it",
    "bins_from_branch": "the same from the branch: where the prompt diverged from what had been "
    "prefilled, which is its start where it shares nothing",
    "bins_labels": "the labels that stored most states, up to five; none where the trace has but "
    "one",
    **{
        f"bins_labels_from_{point}": f"`bins_from_{point}` of each of them, one after another"
        for point in POINTS
    },
}
LISTS = ("block_", "bins_")  # how the names of list columns begin
GRID_KEY = "SECTION.KEY"
BY_GRID = "what the grid varies, under the name of the setting, such as `arrivals.rate`"
PAGE = """\
# Columns of what is stored

Made by `python -m reports.columns > docs/columns.md`. Units are in the names: `_tokens`,
`_bytes`, `_seconds`; what has none is a count or a share of 1. Tokens and bytes are whole numbers.

## records.parquet

Of `milepost run --out DIR`: a row a request, in the order of the trace, the warm-up included.

{records}

## cells.parquet and cells.csv

Of `milepost sweep`: a row a cell, that is a combination of the grid in one replication. `cells.csv`
has the same rows and columns but for the lists below; what is not known is empty.

{cells}

### Blocks

In `cells.parquet` alone. Each is a list: of up to 64 blocks of consecutive requests that count, the
sum over the block, or what is said. Intervals of a single replay are resampled from them.

{blocks}

### Positions

In `cells.parquet` alone: how many of the states that were stored lie how far from a point. Both are
floored to where states may lie.

{bins}

## series.json

Of `milepost drift --out DIR`: what the study found, under `found`. Of each of its `replications`:

{replication}

Of each of their `courses`, lists with an entry for each window that counts:

{course}

Of each step in `distances`:

{distance}
"""


def page() -> str:
    """Return `docs/columns.md`."""
    lists = [{k: text for k, text in CELLS.items() if k.startswith(head)} for head in LISTS]
    flat = {k: text for k, text in CELLS.items() if not k.startswith(LISTS)}
    return PAGE.format(
        records=_table(RECORDS),
        cells=_table({**flat, GRID_KEY: BY_GRID}),
        blocks=_table(lists[0]),
        bins=_table(lists[1]),
        replication=_table(series("Replication")),
        course=_table(series("Course")),
        distance=_table(series("Distance")),
    )


def series(name: str) -> dict[str, str]:
    """Return what the fields of a class of `series.json` are, as its docstring has it."""
    from reports.drift.distances import Distance
    from reports.drift.evaluation import Course
    from reports.drift.study import Replication

    kinds = {kind.__name__: kind for kind in (Replication, Course, Distance)}
    return dict(_parameters(kinds[name].__doc__ or ""))


def _parameters(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield names and meaning of what stands under "Parameters" in a docstring."""
    _, _, listed = docstring.partition("----------\n")
    for names, meaning in re.findall(r"^    (\S.*)\n((?:        .*\n?)+)", listed, re.MULTILINE):
        text = " ".join(meaning.split()).rstrip(".")
        yield names, text[:1].lower() + text[1:]


def _table(columns: Mapping[str, str]) -> str:
    names = (", ".join(f"`{each}`" for each in name.split(", ")) for name in columns)
    rows = (f"| {name} | {text} |" for name, text in zip(names, columns.values(), strict=True))
    return "\n".join(["| column | what it is |", "| --- | --- |", *rows])


if __name__ == "__main__":
    print(page(), end="")
