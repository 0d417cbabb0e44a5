"""The overlaps that a drift study uses, and the laws (distributions) that they follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reports.drift.laws import Int64, empirical
from reports.drift.windows import Windows
from reports.study.sections import ResolvedStudy
from reports.study.traces import open_stored
from reports.study.traffic import GeneratedTraffic, traffic_of
from simulator.base.errors import DataError, printable
from simulator.base.file_memory import remembered
from simulator.plugins.protocols import Law


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """The overlaps of one replication.

    Parameters
    ----------
    name, notes, granularity
        Those of the trace.
    seed
        That of the replication.
    depths
        int64, shape (requests,): tokens shared with the best match before; the last token of a
        prompt never counts.
    memory_requests
        The number of later requests for which a request is remembered.
    """

    name: str
    notes: tuple[str, ...]
    granularity: int
    seed: int
    depths: Int64
    memory_requests: float = 0.0


def read_overlaps(path: Path, study: ResolvedStudy, seed: int) -> Overlaps:
    """Return the overlaps of a stored workload; `seed` is that of its replication.

    Raises
    ------
    DataError
        Where no prompt overlaps.
    """
    return _overlaps(path, study.workload.trace, seed)


@remembered(maxsize=64, ours=True)
def _overlaps(path: Path, source: str | None, seed: int) -> Overlaps:
    from reports.results.memory import RememberedRequests, memory_requests
    from workloads.inspection import overlaps

    trace = open_stored(path)
    depths = np.minimum(overlaps(trace), trace.prompt_tokens - 1)
    if not depths.any():
        raise DataError(printable(source or trace.name), "expected overlaps, found none")
    # overlaps depend on the order of requests only, so times are set to 0
    requests = RememberedRequests(trace.session, trace.prompt_tokens, None, np.zeros(len(trace)))
    memory = memory_requests(requests)
    return Overlaps(trace.name, trace.notes, trace.granularity, seed, depths, memory)


def refuse_without_overlaps(study: ResolvedStudy, overlaps: Overlaps, windows: Windows) -> None:
    """Raise DataError where no request that counts overlaps with an earlier one."""
    warmup = windows.start(windows.first)
    if not overlaps.depths[warmup : windows.start(windows.count)].any():
        problem = f"expected overlaps after the first {warmup:,} requests, found none"
        raise DataError(printable(study.workload.trace or overlaps.name), problem)


def knows_truth(study: ResolvedStudy) -> bool:
    """Return whether the true law of each request is known: for generated one-request sessions."""
    return study.workload.trace is None and _known(traffic_of(study))


def laws_by_window(study: ResolvedStudy, overlaps: Overlaps, windows: Windows) -> list[Law]:
    """Return the law (distribution of overlaps) of each window as probabilities.

    Where the true law of each request is known, it is that of the request in the middle of the
    window; otherwise it is the empirical law of the window's requests.
    """
    if not knows_truth(study):
        return [empirical(windows.of(overlaps.depths, k)) for k in range(windows.count)]
    middles = [windows.start(k) + windows.width // 2 for k in range(windows.count)]
    return _true_laws(traffic_of(study), middles, overlaps.seed)


def _known(traffic: GeneratedTraffic) -> bool:
    from workloads.synthetic import SessionGenerator

    generator = traffic.generator
    return isinstance(generator, SessionGenerator) and generator.requests_per_session == 1


def _true_laws(traffic: GeneratedTraffic, requests: Sequence[int], seed: int) -> list[Law]:
    from workloads.synthetic import SessionGenerator
    from workloads.synthetic.truth import overlap_laws

    assert isinstance(traffic.generator, SessionGenerator)
    laws = overlap_laws(traffic.generator, requests, traffic.requests, seed, traffic.drift)
    totals = [float(law.weights.sum()) + law.misses for law in laws]
    return [
        Law(law.depths, law.weights / total, law.misses / total)
        for law, total in zip(laws, totals, strict=True)
    ]
