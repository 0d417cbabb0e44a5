"""The capacity search of `milepost capacity`, journalled and resumable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reports.capacity.answering import add_limits, best_of
from reports.capacity.answers import (
    SCHEMA_VERSION,
    AskedTarget,
    CapacityResult,
    ReplayedTrace,
    UsedProfile,
    Varied,
)
from reports.capacity.candidates import (
    CAPACITY,
    UNTIL,
    Candidate,
    candidates,
    states_beyond,
)
from reports.capacity.moving import vary
from reports.capacity.price import Prices
from reports.capacity.search import SearchResult
from reports.capacity.searching import Searching
from reports.capacity.target import Target
from reports.execution.runner import Progress, Runner
from reports.study.clock import clock_warnings
from reports.study.file import parse_study
from reports.study.scenario import profile_named
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings, to_toml
from reports.study.traces import TraceFacts, notes_of
from reports.version import version
from simulator.base.errors import UsageError
from simulator.base.files import write_text

WITHIN = 0.03


@dataclass(frozen=True, slots=True)
class CapacityQuestion:
    """A question for the least capacity that meets a target.

    Parameters
    ----------
    settings
        The study.
    target
        What the capacity must meet.
    prices
        Prices of memory and GPU; None if costs do not matter.
    within
        The precision of the answer: the last step of the search, as a share of the capacity.
    sensitivity
        Whether to vary the best answer.
    command
        The command that repeats the search, shown on the page.
    """

    settings: Settings
    target: Target
    prices: Prices | None = None
    within: float = WITHIN
    sensitivity: bool = True
    command: str = "milepost capacity"


def find_capacity(
    question: CapacityQuestion,
    folder: Path | None,
    jobs: int,
    on_progress: Progress | None = None,
    cluster: str | None = None,
) -> CapacityResult:
    """Return the least capacity of every candidate, and how the best one moves.

    Cells that are in the journal of `folder` are not simulated again; without a folder nothing is
    kept. The others are on `jobs` processes here, or on the workers of the dask scheduler at the
    address `cluster`.

    Raises
    ------
    UsageError, DataError
        When the study, its trace, the target, the folder or the cluster is at fault. A cell that
        fails does not raise: its candidate has an error.
    """
    study, sought, stated = candidates(question.settings)
    refuse_clockless(question, sought)
    study_hash = _hash(question, sought)
    with Runner(folder, study_hash, jobs, cluster, on_progress, alone=True) as runner:
        asked = question.target, question.prices, question.within
        searching = Searching(runner, *asked, stated)
        results = searching.results(sought)
        answers = searching.answers(sought, results)
        best = best_of(answers, question.target)
        moved: list[tuple[Candidate | None, Varied]] = []
        ended = None if best is None else results[best]
        if best is not None and question.sensitivity and isinstance(ended, SearchResult):
            answers[best], moved = vary(searching, sought[best], ended)
        varied = [(candidate, item.answer) for candidate, item in moved]
        add_limits([*zip(sought, answers, strict=True), *varied], question.target, searching.bounds)
        facts = searching.facts(sought[0].cells)[0]
        write_text(runner.folder / "study.resolved.toml", to_toml(_resolved(study, stated)))
    beyond = states_beyond(sought, stated)
    warned = [clock_warnings(one.study, facts.name, facts.tick_seconds) for one in sought]
    return CapacityResult(
        **_about(question, study, sought[0], facts),
        profile=_profile(sought),
        warnings=tuple(dict.fromkeys(line for lines in [*warned, beyond] for line in lines)),
        answers=tuple(answers),
        best=best,
        sensitivity=tuple(item for _, item in moved),
        cells=runner.cells,
    )


def _about(
    question: CapacityQuestion, study: ResolvedStudy, candidate: Candidate, facts: TraceFacts
) -> dict[str, Any]:
    """Return what a reader needs to judge and to repeat the answer; no wall-clock time in it."""
    target, tables = question.target, study.resolved()
    tables.get("cache", {}).pop("capacity", None)
    return {
        "schema_version": SCHEMA_VERSION,
        "title": study.title or f"Capacity for {facts.name}",
        "command": question.command,
        "milepost_version": version(),
        "study": tables,
        "target": AskedTarget(
            metric=target.metric.name,
            title=target.metric.title,
            limit=target.limit,
            text=target.text,
        ),
        "within": question.within,
        "prices": question.prices,
        "replications": study.study.replications,
        "draws": study.model.draws,
        "warmup_share": study.study.warmup_share,
        "trace": ReplayedTrace(
            name=facts.name,
            requests=facts.requests,
            prompt_tokens=facts.prompt_tokens,
            granularity=facts.granularity,
            sha256=facts.sha256,
            notes=tuple(notes_of(candidate.study, facts)),
        ),
    }


def _profile(sought: Sequence[Candidate]) -> UsedProfile:
    """Return the profile of the first candidate, and what each lossy one of them all keeps."""
    names = [*dict.fromkeys(candidate.study.model.profile for candidate in sought)]
    lossy = {name: words for name in names if (words := profile_named(name).lossy)}
    return UsedProfile(id=names[0], kind=profile_named(names[0]).kind, lossy=lossy)


def _resolved(study: ResolvedStudy, stated: Sequence[int | None]) -> dict[str, Any]:
    """Return the study as a file may hold it, with the capacities of its grid."""
    sizes = {CAPACITY: ["unbounded" if size is None else size for size in stated]}
    return study.model_copy(update={"grid": study.grid | (sizes if stated else {})}).absolute()


def notes_on(settings: Settings) -> list[str]:
    """Return notes on settings of the study that the search ignores, after checking them.

    Raises
    ------
    UsageError
        For anything wrong with the study.
    """
    parse_study(settings)
    why = {CAPACITY: "it is what is sought", UNTIL: "replications are as many as stated"}
    return [
        f"{settings.origin(key)}: '{key}' is not used: {reason}"
        for key, reason in why.items()
        if key in settings.values
    ]


def refuse_clockless(question: CapacityQuestion, sought: Sequence[Candidate]) -> None:
    """Refuse what needs prices or a clock where there are none.

    Raises
    ------
    UsageError
        For a target or prices of that kind.
    """
    metric = question.target.metric
    if metric.unit == "dollars" and question.prices is None:
        raise UsageError(f"--target {metric.name}: needs --prices FILE")
    instant = any(candidate.study.server.timeless for candidate in sought)
    if instant and (metric.needs_clock or question.prices is not None):
        what = f"--target {metric.name}" if metric.needs_clock else "--prices"
        raise UsageError(f"{what}: contradicts server.kind = 'instant', which has no clock")


def _hash(question: CapacityQuestion, sought: Sequence[Candidate]) -> str:
    """Return the hash that binds a folder to a study and its target."""
    cells = [cell.identity for candidate in sought for cell in candidate.cells]
    prices = question.prices and asdict(question.prices)
    target = [question.target.metric.name, question.target.limit]
    return hashlib.sha256(json.dumps(["capacity", cells, target, prices]).encode()).hexdigest()
