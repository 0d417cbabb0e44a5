"""The workload of a study: imported or generated once, then opened by path in each worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import make_folder, write_json
from reports.study_file import DEFAULT_RATE, Study
from simulator.errors import UsageError, printable
from simulator.trace import Trace

if TYPE_CHECKING:
    from workloads.synthetic import SyntheticSpec

STORE_VERSION = 1  # raise when an importer or the generator gives other bytes than before


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """What reports tell of a trace.

    Parameters
    ----------
    requests, prompt_tokens, granularity, notes
        As in the trace.
    has_arrivals
        Whether the source tells times.
    sha256
        Of the source file; None for the built-in workload.
    tree_tokens
        Distinct prompt tokens: the KV that an unbounded cache ends with.
    ideal_saved_tokens
        Tokens saved by an unbounded cache with a state everywhere, over the requests that count
        (after warm-up).
    """

    name: str
    requests: int
    prompt_tokens: int
    granularity: int
    notes: list[str]
    has_arrivals: bool
    sha256: str | None
    tree_tokens: int
    ideal_saved_tokens: int


def load_trace(study: Study, seed: int) -> Trace:
    """Import the trace file of a study, or generate its built-in workload.

    Raises
    ------
    UsageError, DataError
        When the file cannot be read, or a setting is out of range.
    """
    workload = study.workload
    if workload.trace is None:
        from workloads.synthetic import generate

        return generate(_spec(study, seed))
    from workloads.opening import open_trace

    return open_trace(Path(workload.trace), format=workload.format, **workload.read_options())


def with_times(trace: Trace, study: Study, seed: int) -> Trace:
    """Give Poisson arrivals to a trace that tells no times.

    Raises
    ------
    UsageError
        When a rate is stated for a trace that has times of its own.
    """
    has_arrivals = trace.arrival_seconds is not None
    refuse_rate(study, trace.name, has_arrivals=has_arrivals)
    if has_arrivals:
        return trace
    from workloads.arrivals import poisson_arrivals

    rate = study.arrivals.rate or DEFAULT_RATE
    return trace.with_arrivals(poisson_arrivals(len(trace), rate, seed))


def refuse_rate(study: Study, name: str, *, has_arrivals: bool) -> None:
    """Raise UsageError when a rate is stated for a trace file that has times of its own."""
    rate = study.arrivals.rate
    if has_arrivals and study.workload.trace is not None and rate is not None:
        raise UsageError(
            f"arrivals.rate = {rate:g} contradicts the trace '{printable(name)}', which has "
            "arrival times of its own"
        )


def rate_note(study: Study, *, has_arrivals: bool) -> list[str]:
    """Return the note that arrival times were drawn, if they were, and at which rate."""
    if has_arrivals:
        return []
    rate = study.arrivals.rate
    stated = f"{DEFAULT_RATE:g} requests/s, the default" if rate is None else f"{rate:g} requests/s"
    return [f"the trace has no arrival times: Poisson arrivals at {stated}"]


def trace_key(study: Study, seed: int) -> str:
    """Return the name under which the workload is stored: what it is made of, hashed.

    Raises
    ------
    UsageError, DataError
        When a knob of the built-in workload is out of range, or the trace file cannot be read.
    """
    if study.workload.trace is None:
        workload = asdict(_spec(study, seed))
    else:
        workload = study.workload.model_dump()
        workload["trace"] = file_sha256(study.workload.trace)
    text = json.dumps([STORE_VERSION, workload], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def store_trace(study: Study, seed: int, folder: Path) -> tuple[Path, TraceFacts]:
    """Store the workload as Parquet in `folder`, unless it is there; return where, and facts."""
    path = folder / f"{trace_key(study, seed)}.parquet"
    sidecar = path.with_suffix(".json")
    stored = _read_facts(sidecar) if path.is_file() else None
    if stored is not None:
        return path, stored
    from workloads.store import save

    trace = load_trace(study, seed)
    facts = facts_of(trace, study)
    make_folder(folder)
    save(trace, path)
    write_json(sidecar, asdict(facts))
    return path, facts


def facts_of(trace: Trace, study: Study) -> TraceFacts:
    """Collect what reports tell of a trace."""
    from workloads.inspection import overlaps

    reusable = overlaps(trace).clip(max=trace.prompt_tokens - 1)
    first = counted_from(len(trace), study.study.warmup)
    source = study.workload.trace
    return TraceFacts(
        name=trace.name,
        requests=len(trace),
        prompt_tokens=int(trace.prompt_tokens.sum()),
        granularity=trace.granularity,
        notes=list(trace.notes),
        has_arrivals=trace.arrival_seconds is not None,
        sha256=None if source is None else file_sha256(source),
        tree_tokens=int((trace.tree.stop - trace.tree.start).sum()),
        ideal_saved_tokens=int(reusable[first:].sum()),
    )


def counted_from(requests: int, warmup_share: float) -> int:
    """Return the first request that counts, the warm-up being a share of the requests."""
    return int(warmup_share * requests)


@lru_cache(maxsize=64)
def file_sha256(path: str) -> str:
    """Return the sha256 of a trace file.

    Raises
    ------
    DataError
        When it is missing, cannot be read or is no regular file.
    """
    from workloads.files import open_file

    with open_file(Path(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=2)
def open_stored(path: Path) -> Trace:
    """Open a stored workload; the last ones stay open in each worker."""
    from workloads.opening import open_trace

    return open_trace(path)


def _spec(study: Study, seed: int) -> SyntheticSpec:
    from workloads.synthetic import SyntheticSpec

    knobs = dict(study.workload.generator)
    if study.arrivals.rate is not None:
        knobs["rate_per_second"] = study.arrivals.rate
    try:
        return SyntheticSpec(seed=seed, **knobs)
    except UsageError as error:
        raise UsageError(f"built-in workload: {error}") from error


def _read_facts(sidecar: Path) -> TraceFacts | None:
    try:
        return TraceFacts(**json.loads(sidecar.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
