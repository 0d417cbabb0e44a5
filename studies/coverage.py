"""Coverage of the 95 % intervals of a single replay: how often they contain the true mean.

    python -m studies.coverage                    # the table of docs/comparing.md
    python -m studies.coverage --pieces 40 --only chats --jobs 2

Long traffic of one seed is cut into disjoint pieces, and each is replayed as a trace of its own
under several policies, with a cold cache and a tenth of warm-up. The mean over all pieces counts as
the true mean. Pieces without an interval are counted separately.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pool
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reports.compare.figures import UNITS
from reports.compare.measures import MEASURES
from reports.compare.requests import compared_figures
from reports.results.evidence import Metric, Row, difference
from reports.results.memory import RememberedRequests, memory_requests
from reports.results.metrics import blocks, flat_metrics
from reports.statistics import Estimate
from simulator.results.result import Result
from simulator.trace.prefix_tree import ROOT, PrefixTree
from simulator.trace.trace import Trace

WARMUP = 0.1
METRICS: tuple[Metric, ...] = ("token_hit_rate", "ttft_seconds")
MEASURE_NAMES = ("token_hit_rate", "mean_ttft", "p90_ttft")


@dataclass(frozen=True, slots=True)
class CoverageCase:
    """A kind of traffic, with the requests in a piece and the capacity of the caches."""

    name: str
    generator: str
    arrivals: str
    rate: float
    requests: int
    capacity_gib: float

    def trace(self, pieces: int, seed: int) -> Trace:
        """Return the traffic of this many pieces."""
        from workloads.arrivals import read_process
        from workloads.drift import read_drift
        from workloads.synthetic import read_generator

        process = read_process(self.arrivals).at_rate(self.rate)
        generator = read_generator(self.generator)
        return generator.trace(self.requests * pieces, seed, process, read_drift(""))


@dataclass(frozen=True, slots=True)
class Figure:
    """A paired difference in one piece, as computed by a sweep or by `milepost compare`."""

    command: str
    pair: str
    metric: str
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Covered:
    """The number of a figure's intervals that contain its mean over all pieces."""

    printed: int
    pieces: int
    held: int

    @property
    def share(self) -> float:
        """Share of the printed intervals that contain the mean."""
        return self.held / self.printed if self.printed else float("nan")


# Short think times and a small cache, so that 3,000 requests here correspond to 12,000 requests
# of the chats below.
BRISK = CoverageCase(
    "brisk chats, Poisson, 3,000",
    "chats:think_seconds_median=1,answer_tokens_median=150",
    "poisson",
    5,
    3000,
    2.5,
)
TRAFFIC = (
    CoverageCase("documents, Poisson, 3,000", "documents", "poisson", 5, 3000, 16),
    CoverageCase("chats, Poisson, 3,000", "chats", "poisson", 5, 3000, 16),
    CoverageCase("chats, Poisson, 12,000", "chats", "poisson", 5, 12_000, 16),
    CoverageCase("chats, gamma cv 2, 3,000", "chats", "gamma:cv=2", 5, 3000, 16),
    CoverageCase("chats, gamma cv 2, 12,000", "chats", "gamma:cv=2", 5, 12_000, 16),
    CoverageCase("agents, MMPP, 3,000", "agents", "mmpp", 1.5, 3000, 32),
    CoverageCase("agents, MMPP, 12,000", "agents", "mmpp", 1.5, 12_000, 64),
    BRISK,
)
POLICIES = (("block:size=1024", "lru"), ("adaptive", "lru"), ("adaptive", "value"))
PAIRS = ((1, 0), (2, 1))


def piece_of(trace: Trace, first: int, last: int) -> Trace:
    """Return requests `[first, last)` as a trace of their own, with their part of the tree."""
    tree, leaf = trace.tree, trace.leaf[first:last]
    after = None if trace.after is None else trace.after[first:last]
    kept = _with_ancestors(tree, leaf if after is None else np.concatenate([leaf, after]))
    number = np.cumsum(kept, dtype=np.int32) - 1
    parent = tree.parent[kept]
    parent = np.where(parent >= 0, number[parent], -1).astype(np.int32)
    times = trace.arrival_seconds
    return replace(
        trace,
        tree=PrefixTree(parent, tree.start[kept], tree.stop[kept]),
        leaf=number[leaf],
        arrival_seconds=None if times is None else times[first:last] - times[first],
        output_tokens=trace.output_tokens[first:last],
        session=trace.session[first:last],
        label=trace.label[first:last],
        after=None if after is None else np.where(after >= 0, number[after], -1).astype(np.int32),
    )


def _with_ancestors(tree: PrefixTree, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    kept = np.zeros(tree.nodes, dtype=bool)
    kept[ROOT] = True
    nodes = np.unique(nodes[nodes >= 0])
    while len(nodes):
        kept[nodes] = True
        nodes = np.unique(tree.parent[nodes])
        nodes = nodes[~kept[nodes]]
    return kept


def replay(trace: Trace, placer: str, eviction: str, capacity_gib: float) -> Result:
    """Replay a piece under a policy."""
    from calibration.catalogue import open_profile
    from policies.registry import create
    from simulator.simulation import Scenario, simulate

    return simulate(
        trace,
        Scenario(
            profile=open_profile("qwen3.5-9b-h200"),
            placer=lambda: create("placer", placer),
            eviction=lambda: create("eviction", eviction),
            admission=lambda: create("admission", "always"),
            capacity_bytes=int(capacity_gib * 2**30),
        ),
    )


def row_of(trace: Trace, result: Result) -> Row:
    """Return a replay as the row of a sweep."""
    memory = memory_requests(RememberedRequests.of(trace, result, WARMUP))
    replayed = {"replication": 0, "seed": 0, "memory_requests": memory}
    return replayed | flat_metrics(result, WARMUP) | blocks(result, WARMUP)


def columns_of(trace: Trace, result: Result) -> dict[str, Any]:
    """Return the columns of a run that `milepost compare` reads."""
    from reports.artifacts.records_folder import documents

    rows = result.rows_after(WARMUP)
    request = rows["request"]
    return rows | {"session": trace.session[request], "document": documents(trace)[request]}


def figures_of(trace: Trace, traffic: CoverageCase) -> list[Figure]:
    """Return all paired differences of a piece."""
    results = [replay(trace, *policy, traffic.capacity_gib) for policy in POLICIES]
    rows = [row_of(trace, result) for result in results]
    columns = [columns_of(trace, result) for result in results]
    measures = [MEASURES[name] for name in MEASURE_NAMES]
    figures = []
    for ours, theirs in PAIRS:
        pair = f"{' · '.join(POLICIES[ours])} less {' · '.join(POLICIES[theirs])}"
        for metric in METRICS:
            estimate = difference([rows[ours]], [rows[theirs]], metric, deterministic=True)
            assert estimate is not None
            figures.append(Figure("sweep", pair, metric, estimate))
        both = columns[theirs], columns[ours]
        for each in compared_figures(*both, UNITS, measures, paired=True):
            assert each.difference is not None
            figures.append(Figure("compare", pair, each.measure.name, each.difference))
    return figures


def coverage(estimates: Sequence[Estimate]) -> Covered:
    """Return how often the intervals of disjoint pieces contain the mean of all."""
    truth = float(np.mean([each.value for each in estimates]))
    known = [(each.low, each.high) for each in estimates]
    held = [low <= truth <= high for low, high in known if low is not None and high is not None]
    return Covered(len(held), len(estimates), sum(held))


def by_figure(pieces: Sequence[Sequence[Figure]]) -> dict[tuple[str, str, str], Covered]:
    """Return the coverage of each figure over all pieces."""
    return {
        (one.command, one.pair, one.metric): coverage([piece[at].difference for piece in pieces])
        for at, one in enumerate(pieces[0])
    }


def main() -> None:
    """Print the table, a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_AsWritten)
    parser.add_argument("--pieces", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--only", default="", help="only traffic whose name contains this")
    asked = parser.parse_args()
    print("| traffic | told by | difference | figure | intervals, of pieces | held |")
    print("| --- | --- | --- | --- | --- | --- |")
    for traffic in TRAFFIC:
        if asked.only in traffic.name:
            _print_rows(traffic, asked.pieces, asked.seed, asked.jobs)


class _AsWritten(argparse.RawDescriptionHelpFormatter):
    """A help formatter that keeps the lines of the module's docstring."""


def _print_rows(traffic: CoverageCase, pieces: int, seed: int, jobs: int) -> None:
    trace = traffic.trace(pieces, seed)
    starts = range(0, traffic.requests * pieces, traffic.requests)
    tasks = ((piece_of(trace, at, at + traffic.requests), traffic) for at in starts)
    with Pool(jobs) as pool:
        figures = pool.starmap(figures_of, tasks, chunksize=1)
    for (command, pair, metric), covered in by_figure(figures).items():
        share = f"{100 * covered.share:.0f} %" if covered.printed else "n/a"
        counted = f"{covered.printed} of {covered.pieces}"
        print(
            f"| {traffic.name} | {command} | {pair} | {metric} | {counted} | {share} |", flush=True
        )


if __name__ == "__main__":
    main()
