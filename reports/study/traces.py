"""Workloads of a study, imported or generated once, then opened by path in each worker."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from reports.files import digest, make_folder, read_object, sealed, unsealed, write_json
from reports.study.clock import clock_warnings, coarse_tick_seconds
from reports.study.sections import DEFAULT_RATE, ResolvedStudy, WorkloadSection
from reports.study.template import (
    default_template,
    model_template,
    template_contents,
    with_template_warning,
)
from reports.study.traffic import keeps_times, process_of, traffic_of
from simulator.base.errors import DataError, SettingError, printable
from simulator.base.file_memory import remembered
from simulator.trace.trace import Trace

STORE_VERSION = 2  # raise when an importer or the generator gives other bytes than before


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """Facts about a trace that reports show.

    Parameters
    ----------
    requests, prompt_tokens, granularity, notes
        The attributes of the same names of the trace.
    has_arrivals
        Whether the source has arrival times.
    sha256
        The hash of the source file; None for the built-in workload.
    tree_tokens
        Distinct prompt tokens: the KV that an unbounded cache ends with.
    tick_seconds
        The resolution of a clock so coarse that arrivals coincide; None for a finer one.
    """

    name: str
    requests: int
    prompt_tokens: int
    granularity: int
    notes: list[str]
    has_arrivals: bool
    sha256: str | None
    tree_tokens: int
    tick_seconds: float | None


def load_trace(study: ResolvedStudy, seed: int) -> Trace:
    """Import the trace file of a study, or generate its traffic.

    Raises
    ------
    UsageError, DataError
        When the file cannot be read, or a setting is out of range.
    """
    workload = study.workload
    if workload.trace is None:
        return traffic_of(study).trace(seed)
    from workloads.opening import open_trace

    options = workload.read_options() | {"default_template": model_template(study)}
    try:
        trace = open_trace(Path(workload.trace), format=workload.format, **options)
    except SettingError as error:
        raise SettingError(f"workload.{error.name}", error.problem) from error
    return with_template_warning(trace, study)


def with_times(trace: Trace, study: ResolvedStudy, seed: int) -> Trace:
    """Draw arrivals for a trace without times, or stretch the times that it has.

    Raises
    ------
    UsageError
        When arrivals are stated for a trace that has times of its own, or are out of range.
    """
    has_arrivals = trace.arrival_seconds is not None
    refuse_rate(study, trace.name, has_arrivals=has_arrivals)
    if study.workload.trace is None or (has_arrivals and study.arrivals.process is None):
        return trace
    process = process_of(study, DEFAULT_RATE)
    if trace.arrival_seconds is not None and keeps_times(process):
        return trace.with_arrivals(process.stretched(trace.arrival_seconds))
    return trace.with_arrivals(process.times(len(trace), seed))


def refuse_rate(study: ResolvedStudy, name: str, *, has_arrivals: bool) -> None:
    """Raise UsageError when arrivals are stated for a trace file that has times of its own.

    The process 'trace' without a path is those times, which a rate may stretch.
    """
    if not has_arrivals or study.workload.trace is None:
        return
    rate, process = study.arrivals.rate, study.arrivals.process
    if process is not None and keeps_times(process_of(study, DEFAULT_RATE)):
        return
    if rate is not None or process is not None:
        key, stated = ("process", printable(process)) if process else ("rate", f"{rate:g}")
        raise SettingError(
            f"arrivals.{key}",
            f"{stated} contradicts the trace '{printable(name)}', which has arrival times of its "
            "own (arrivals.process = 'trace' with a rate stretches them)",
        )


def notes_of(study: ResolvedStudy, facts: TraceFacts) -> list[str]:
    """Return notes on a workload and its arrival times."""
    return [
        *facts.notes,
        *rate_note(study, has_arrivals=facts.has_arrivals),
        *clock_warnings(study, facts.name, facts.tick_seconds),
    ]


def rate_note(study: ResolvedStudy, *, has_arrivals: bool) -> list[str]:
    """Return the note that arrival times were drawn or stretched, if they were, and how."""
    process, rate = study.arrivals.process, study.arrivals.rate
    if study.workload.trace is None or (has_arrivals and process is None):
        return []
    why = (
        "the trace's own times are stretched" if has_arrivals else "the trace has no arrival times"
    )
    law = "Poisson arrivals" if process is None else f"arrivals by {printable(process)}"
    at = "" if rate is None else f" at {rate:g} requests/s"
    if process is None and rate is None:
        at = f" at {DEFAULT_RATE:g} requests/s, the default"
    return [f"{why}: {law}{at}"]


def trace_key(study: ResolvedStudy, seed: int) -> str:
    """Return the name under which the workload is stored: what it is made of, hashed.

    Raises
    ------
    UsageError, DataError
        When a knob of the built-in workload is out of range, or the trace file cannot be read.
    """
    if study.workload.trace is None:
        workload = traffic_of(study).identity(seed)
    else:
        workload = study.workload.model_dump() | _contents(study.workload)
        workload |= default_template(study)
    if arrivals_file := process_of(study, DEFAULT_RATE).file:
        workload["arrivals file"] = file_sha256(arrivals_file)
    return digest([STORE_VERSION, workload], compact=False)[:16]


def _contents(workload: WorkloadSection) -> dict[str, str]:
    """Return the sha256 of the files that a trace is read with, the trace's own among them."""
    from workloads.opening import format_of

    assert workload.trace is not None
    if workload.format is None and Path(workload.trace).is_dir():
        format_of(Path(workload.trace))  # before all that lies in some foreign folder is read
    contents = {"trace": file_sha256(workload.trace)}
    if workload.tokenizer is not None and Path(workload.tokenizer).is_file():
        contents["tokenizer file"] = file_sha256(workload.tokenizer)
    if workload.template is not None:
        contents |= template_contents(workload.template)
    return contents


def store_trace(study: ResolvedStudy, seed: int, folder: Path) -> tuple[Path, TraceFacts]:
    """Store the workload as Parquet in `folder`, unless it is there; return where, and facts."""
    path = folder / f"{trace_key(study, seed)}.parquet"
    sidecar = path.with_suffix(".json")
    stored = _read_facts(sidecar, path) if path.is_file() else None
    if stored is not None:
        return path, stored
    from workloads.store import save

    trace = load_trace(study, seed)
    facts = facts_of(trace, study)
    if facts.sha256 is not None and path.stem != trace_key(study, seed):
        raise DataError(str(study.workload.trace), "changed while it was read: run it again")
    make_folder(folder)
    save(trace, path)
    body = {"facts": asdict(facts), "stored_sha256": file_sha256(str(path))}
    write_json(sidecar, sealed(body))
    return path, facts


def facts_of(trace: Trace, study: ResolvedStudy) -> TraceFacts:
    """Collect the facts about a trace that reports show."""
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
        tick_seconds=coarse_tick_seconds(trace),
    )


@remembered(maxsize=64, ours=True)
def ideal_saved_tokens(path: Path, first: int) -> int:
    """Return what an unbounded cache with a state everywhere saves from request `first` on."""
    from workloads.inspection import overlaps

    trace = open_stored(path)
    return int(overlaps(trace).clip(max=trace.prompt_tokens - 1)[first:].sum())


def counted_from(requests: int, warmup_share: float) -> int:
    """Return the first request that counts, the warm-up being a share of the requests."""
    return int(warmup_share * requests)


@remembered(maxsize=64)
def _hashed(path: str) -> str:
    from workloads.reading.files import open_file

    with open_file(Path(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_sha256(path: str) -> str:
    """Return the sha256 of a trace file; of a folder, that of the names and sha256 of its files.

    Raises
    ------
    DataError
        When it is missing, cannot be read or is no regular file.
    """
    folder = Path(path)
    if folder.is_dir():
        sums = [(str(file.relative_to(folder)), file_sha256(str(file))) for file in _files(folder)]
        return digest(sums, compact=False)
    return _hashed(path)


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted."""
    from workloads.reading.files import reason

    try:
        return sorted(file for file in folder.rglob("*") if file.is_file())
    except OSError as error:
        raise DataError(str(folder), f"cannot be read: {reason(error)}") from None


@remembered(maxsize=2, ours=True)
def open_stored(path: Path) -> Trace:
    """Open a stored workload; the last ones stay open in each worker."""
    from workloads.opening import open_trace

    return open_trace(path)


def _read_facts(sidecar: Path, path: Path) -> TraceFacts | None:
    """Return the facts of a stored trace; None where they or the trace are damaged."""
    stored = unsealed(read_object(sidecar), ("facts", "stored_sha256"))
    if stored is None or stored["stored_sha256"] != file_sha256(str(path)):
        return None
    try:
        return TraceFacts(**stored["facts"])
    except TypeError:  # of a version with other facts
        return None
