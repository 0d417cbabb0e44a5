"""The comparison of arXiv 2605.05219 in a cache like its own, beside what its logs say.

    python -m studies.paper.original RUNS.parquet
    python -m studies.paper.original RUNS.parquet --traces FOLDER
    milepost run --trace FOLDER/quality_clean.parquet --warmup 0.5 --cache entries:last=20 \
        --placer published:budget=5 --server instant --set model.alignment=64

RUNS.parquet has a row for each request of the logs: run, strategy, request, document,
prompt_tokens, overlap_tokens, hit, saved_tokens, checkpoints_added, prefill_s. They tell how much
each request overlapped with an entry of its document, but not with which: of equal overlaps it was
the oldest. So prompts can be drawn that overlap in the same way, and are the traces of this study.
`--traces` writes them.

The logs lack the requests before the first one, from which entries and learned laws come. The
logged ones stand in for them: a trace has them twice, with tokens of their own, and only the second
half counts. Where that leaves a document without an entry that the logs met, one is put before it.
A prompt that an entry holds to its end gets one more token: the logs save all of it, and here the
last token is always computed.

Seconds are those of prefill, as the fit of `fit_timings.py` to the logs of the same run tells them;
the logs of the other runs have 50 ms a token and no measurement.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from policies.registry import create
from simulator.base.errors import DataError, MilepostError
from simulator.costs.profile import Profile
from simulator.simulation import Scenario, simulate
from simulator.trace.prefix_tree import PrefixTree
from simulator.trace.trace import Trace
from studies.paper.fit_timings import RUNS as TIMED
from studies.paper.fit_timings import fit_table, profile_of, read_run
from workloads.store import save

ENTRIES = {"system_prompts_clean": 50, "quality_clean": 20, "narrativeqa_sim": 100}
BUDGETS = (1, 2, 3, 5, 8, 12, 16, 30)
SEEDS = 5
COLUMNS = (
    *("run", "strategy", "request", "document", "prompt_tokens", "overlap_tokens", "hit"),
    *("saved_tokens", "checkpoints_added", "prefill_s"),
)
BUDGETED = {  # placer -> the name of the strategy in the logs, where it has one
    "balanced:budget={}": "balanced_{}",
    "published:budget={}": "dp_{}",
    "optimal:budget={}": None,
    "greedy:budget={}": None,
    "random:budget={}": None,
}
FIXED = {
    "none": "no_cache",
    "block:size=512": "block_512",
    "block:size=1024": "block_1024",
    "block:size=4096": "block_4096",
    "block:size=16384": "block_16384",
    "dyadic:first=768": "log",
    "sqrt": "sqrt",
}
# How many states a prefix comes to hold: as in the original, and by other rules.
CACHES = {
    "entries": {"cache": "entries:last={entries}"},
    "tree": {},
    "path": {"states_per_prefix": "path:{budget}"},
    "entry": {"states_per_prefix": "entry:{budget}"},
}


class LoggedRequest(NamedTuple):
    """A request of the logs: its prompt, and how much of it an entry of its document shared."""

    document: str
    prompt_tokens: int
    overlap_tokens: int


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A run of the logs: its requests, and the totals of each strategy."""

    name: str
    requests: list[LoggedRequest]
    strategies: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class PlacerOutcome:
    """What a placer saved of the requests that count.

    Parameters
    ----------
    saved
        Share of the prompt tokens.
    states
        States written per request.
    resident
        The largest number of states in the cache at once.
    seconds
        Of prefill, None where the run was not timed.
    per_state
        Tokens saved per state written, None without states.
    """

    saved: float
    states: float
    resident: float
    seconds: float | None
    per_state: float | None


# --- the logs ---------------------------------------------------------------------------------


def read_logs(path: Path, run: str) -> LoggedRun:
    """Return a run of the logs.

    Raises
    ------
    DataError
        If the file is no such table, or has no such run.
    """
    try:
        rows = pl.read_parquet(path, columns=list(COLUMNS)).filter(pl.col("run") == run)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(str(path), f"expected Parquet with {', '.join(COLUMNS)}") from error
    if not len(rows):
        raise DataError(str(path), f"no request of the run '{run}'")
    one = rows.filter(pl.col("strategy") == rows["strategy"][0]).sort("request")
    overlap = pl.when("hit").then("overlap_tokens").otherwise(0)
    requests = one.select("document", "prompt_tokens", overlap.alias("overlap_tokens")).rows()
    sums = rows.group_by("strategy").agg(
        saved=pl.col("saved_tokens").sum() / pl.col("prompt_tokens").sum(),
        states=pl.col("checkpoints_added").mean(),
        seconds=pl.col("prefill_s").sum(),
    )
    strategies = {row.pop("strategy"): row for row in sums.iter_rows(named=True)}
    return LoggedRun(run, [LoggedRequest(*row) for row in requests], strategies)


# --- traces -----------------------------------------------------------------------------------


class _Prompt(NamedTuple):
    """A drawn prompt: its runs of tokens, as (number, end), each the first to bring its tokens."""

    document: str
    runs: tuple[tuple[int, int], ...]

    @property
    def tokens(self) -> int:
        return self.runs[-1][1]


def trace_of(run: LoggedRun, entries: int) -> tuple[Trace, int]:
    """Return prompts that overlap as the logged ones did, and how many come before them.

    Raises
    ------
    DataError
        If a request overlaps where none of so many entries can be of its document.
    """
    before = run.requests
    for _ in range(len(run.requests) + 1):
        prompts, missed = _drawn([*before, *run.requests], entries, len(before))
        if not missed:
            return _trace(run.name, prompts), len(before)
        if len(before) + len(missed) > len(run.requests) + entries:
            break  # they would push each other out
        before = [*before, *missed]
    raise DataError(run.name, f"overlaps that no {entries} entries can have")


def _drawn(
    requests: Sequence[LoggedRequest], entries: int, first: int
) -> tuple[list[_Prompt], list[LoggedRequest]]:
    """Draw prompts, each sharing its overlap with the oldest entry of its document that can.

    Returns the prompts, and one for each document in which a request from `first` on finds none.
    """
    held: deque[_Prompt] = deque(maxlen=entries)
    prompts: list[_Prompt] = []
    missed: dict[str, LoggedRequest] = {}
    for number, (document, length, overlap) in enumerate(requests):
        able = (e for e in held if e.document == document and e.tokens >= overlap)
        source = next(able, None) if overlap else None
        shared = _cut(source.runs, overlap) if source is not None else ()
        if overlap and source is None and number >= first:
            wanted = max(length, overlap)
            missed[document] = LoggedRequest(document, wanted, 0)
        runs = (*shared, (number, length + (overlap == length)))
        prompts.append(_Prompt(document, runs))
        held.append(prompts[-1])
    return prompts, list(missed.values())


def _cut(runs: tuple[tuple[int, int], ...], tokens: int) -> tuple[tuple[int, int], ...]:
    """Return the first `tokens` of a prompt."""
    whole = [run for run in runs if run[1] < tokens]
    return (*whole, (runs[len(whole)][0], tokens))


def _trace(name: str, prompts: Sequence[_Prompt]) -> Trace:
    """Return the trace of drawn prompts, whose tree has a node wherever a run is left or ends."""
    ends: dict[int, set[int]] = {}
    for prompt in prompts:
        for run, end in prompt.runs:
            ends.setdefault(run, set()).add(end)
    parent, stop, node_at = [-1], [0], {(-1, 0): 0}
    for prompt in prompts:
        above = 0
        for run, end in prompt.runs:
            for each in sorted(e for e in ends[run] if stop[above] < e <= end):
                if (run, each) not in node_at:
                    node_at[run, each] = len(stop)
                    parent.append(above)
                    stop.append(each)
                above = node_at[run, each]
    stops = np.array(stop, dtype=np.int64)
    parents = np.array(parent, dtype=np.int32)
    count = len(prompts)
    starts = np.where(parents >= 0, stops[np.maximum(parents, 0)], 0)
    return Trace(
        name=name,
        tree=PrefixTree(parents, starts, stops),
        leaf=np.array([node_at[prompt.runs[-1]] for prompt in prompts], dtype=np.int32),
        arrival_seconds=None,
        output_tokens=np.zeros(count, dtype=np.int64),
        session=np.full(count, -1, dtype=np.int32),
        label=np.full(count, -1, dtype=np.int32),
    )


# --- the comparison ---------------------------------------------------------------------------


def outcome(
    trace: Trace, first: int, profile: Profile, placer: str, *, timed: bool, **settings: Any
) -> PlacerOutcome:
    """Serve a trace with a placer; requests from `first` on count."""
    scenario = Scenario(
        profile,
        partial(create, "placer", placer),
        partial(create, "eviction", "fifo"),
        partial(create, "admission", "always"),
        server="instant",
        alignment=64,
        **settings,
    )
    columns = {name: values[first:] for name, values in simulate(trace, scenario).columns.items()}
    saved, states = columns["saved_tokens"].sum(), columns["checkpoints_written"].sum()
    return PlacerOutcome(
        saved=float(saved / columns["prompt_tokens"].sum()),
        states=float(states / len(columns["status"])),
        resident=float(columns["checkpoints_resident"].max()),
        seconds=float(columns["prefill_seconds"].sum()) if timed else None,
        per_state=float(saved / states) if states else None,
    )


def compared(path: Path, run: str) -> dict[str, Any]:
    """Return what every placer saves, by cache and budget, beside the logs of a run."""
    logs, entries = read_logs(path, run), ENTRIES[run]
    trace, first = trace_of(logs, entries)
    timed = run in TIMED
    timings = run if timed else TIMED[0]
    profile = profile_of(fit_table(read_run(path, timings)), timings)
    serve: Callable[..., PlacerOutcome] = partial(outcome, trace, first, profile, timed=timed)
    caches: dict[str, Any] = {}
    for name, settings in CACHES.items():
        caches[name] = {
            placer: {
                str(budget): mean_outcome(
                    serve(spec, **_filled(settings, entries, budget))
                    for spec in _specs(placer, budget)
                )
                for budget in BUDGETS
            }
            for placer in BUDGETED
        }
    whole = {"cache": f"entries:last={entries}"}
    fixed = {placer: mean_outcome([serve(placer, **whole)]) for placer in FIXED}
    logged = {name: dict(figures) for name, figures in logs.strategies.items()}
    return {
        "requests": len(logs.requests),
        "put_before": first - len(logs.requests),
        "entries": entries,
        "timed": timed,
        "caches": caches,
        "fixed": fixed,
        "logged": _of_logs(logged, timed=timed),
    }


def _specs(placer: str, budget: int) -> list[str]:
    """Return a placer of a budget; `random` with several seeds."""
    spec = placer.format(budget)
    seeds = range(SEEDS) if placer.startswith("random") else (None,)
    return [spec if seed is None else f"{spec},seed={seed}" for seed in seeds]


def _filled(settings: Mapping[str, str], entries: int, budget: int) -> dict[str, str]:
    return {k: text.format(entries=entries, budget=budget) for k, text in settings.items()}


def mean_outcome(outcomes: Iterable[PlacerOutcome]) -> dict[str, float | None]:
    """Return the mean of each figure; of several seeds also the least and the greatest saving."""
    each = list(outcomes)
    figures: dict[str, float | None] = {}
    for name in ("saved", "states", "resident", "seconds", "per_state"):
        values = [getattr(one, name) for one in each]
        figures[name] = None if None in values else float(np.mean(values))
    if len(each) > 1:
        savings = [one.saved for one in each]
        figures |= {"least_saved": min(savings), "most_saved": max(savings)}
    return figures


def _of_logs(
    logged: Mapping[str, Mapping[str, float]], *, timed: bool
) -> dict[str, dict[str, float | None]]:
    """Return the strategies of the logs that are compared here."""
    names = [name.format(budget) for name in BUDGETED.values() if name for budget in BUDGETS]
    names += [name for name in FIXED.values() if name]
    return {
        name: {k: v for k, v in logged[name].items() if k != "seconds" or timed}
        for name in names
        if name in logged
    }


def lines_of(run: str, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of a run: savings and seconds in a cache of entries, beside the logs'."""
    yield f"{run}: {figures['requests']} requests, the last {figures['entries']} entries"
    yield "placer, M, saved, states a request, seconds, saved in the logs, seconds in the logs"
    for placer, strategy in BUDGETED.items():
        for budget, row in figures["caches"]["entries"][placer].items():
            name = "" if strategy is None else strategy.format(budget)
            yield _line(placer.format("M"), budget, row, figures["logged"].get(name, {}))
    for placer, row in figures["fixed"].items():
        yield _line(placer, "", row, figures["logged"].get(FIXED[placer], {}))


def _line(placer: str, budget: str, row: Mapping[str, Any], logged: Mapping[str, Any]) -> str:
    def shown(value: float | None, form: str) -> str:
        return "" if value is None else f"{value:{form}}"

    cells = (
        shown(row["saved"], ".3f"),
        shown(row["states"], ".2f"),
        shown(row["seconds"], ".2f"),
        shown(logged.get("saved"), ".3f"),
        shown(logged.get("seconds"), ".2f"),
    )
    return f"{placer:22} {budget:>2} " + " ".join(f"{cell:>8}" for cell in cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, metavar="RUNS.parquet")
    parser.add_argument("--run", choices=tuple(ENTRIES), action="append", help="default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--traces", type=Path, metavar="FOLDER", help="write the traces only")
    options = parser.parse_args(arguments)
    chosen = options.run or tuple(ENTRIES)
    try:
        if options.traces is not None:
            options.traces.mkdir(parents=True, exist_ok=True)
            for run in chosen:
                trace, _ = trace_of(read_logs(options.runs, run), ENTRIES[run])
                save(trace, options.traces / f"{run}.parquet")
            return 0
        figures = {run: compared(options.runs, run) for run in chosen}
    except MilepostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if options.json:
        print(json.dumps(figures))
    else:
        print("\n\n".join("\n".join(lines_of(run, each)) for run, each in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
