"""`milepost drift`: whether the distribution of overlaps changes, and how often to plan anew."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.again import typed_again
from reports.commands.declared import Sets, options
from reports.commands.options import OutputOptions
from reports.commands.running import FolderOption, WorkerOptions, running
from reports.commands.study_options import ReplicationOptions, StudyOptions
from reports.console import say
from simulator.base.bounds import MAX_BUDGET
from simulator.base.errors import UsageError, printable

if TYPE_CHECKING:
    from reports.study.settings import Settings

DEFAULT_BUDGET = 8
DEFAULT_WINDOWS = "50,100,200,400,800,1600"
TRAIN = 200


@options
class DriftCommand(FolderOption, ReplicationOptions, StudyOptions, WorkerOptions, OutputOptions):
    """Say whether the law of overlaps moves, how fast to re-plan, and what being wrong costs.

    The law is the distribution of how many tokens a prompt shares with earlier ones. Placers are
    those of the study's grid, all of the kind optimal:budget=...; without one, the study compares
    a plan that is kept, several windows, decay, and re-planning on change.
    """

    study: Annotated[
        Path | None,
        typer.Argument(metavar="[STUDY.toml]", help="A study whose grid varies placers."),
    ] = None
    drift: Annotated[
        str | None,
        typer.Option(help="As in shift:distance=0.3,at=0.5."),
        Sets("workload.drift"),
    ] = None
    budget: Annotated[
        int | None, typer.Option(min=1, max=MAX_BUDGET, help="Checkpoints; default: 8.")
    ] = None
    window: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Requests that estimators look back.")
    ] = None

    def run(self) -> None:
        """Run the study, write page and figures, and print the answers."""
        from reports.drift.stored import refuse_other_folder, write_series
        from reports.drift.study import run
        from reports.pages.drift import drift_report
        from reports.report.showing import show
        from reports.report.store import store

        jobs, out = self.workers(), self.out
        settings = with_placers(self.settings, self.budget, self.window)
        if out is not None:
            refuse_other_folder(out)
        with running(settings, out, quiet=self.silent, what="placers") as progress:
            study = run(settings, out, jobs, progress, self.cluster)
        study = replace(study, command=typed_again("milepost drift"))
        report = drift_report(study)
        if out is not None:
            write_series(out, study)
            page = store(report, out)
        show(report, as_json=self.json)
        if out is not None:
            say(f"page: {page}")


def with_placers(settings: Settings, budget: int | None, window: str | None) -> Settings:
    """Return the settings with the placers that the flags ask for, where the study names none.

    Raises
    ------
    UsageError
        For windows that are not numbers, or flags given although the study names placers.
    """
    named = [k for k in ("grid.policy.placer", "policy.placer") if k in settings.values]
    if named:
        if budget is not None or window is not None:
            flag = "--budget" if budget is not None else "--window"
            raise UsageError(f"{flag} contradicts {settings.origin(named[0])}: '{named[0]}'")
        return settings
    lengths = _lengths(DEFAULT_WINDOWS if window is None else window)
    start = f"optimal:budget={budget or DEFAULT_BUDGET}"
    middle = lengths[len(lengths) // 2]
    placers = [
        f"{start},train={TRAIN}",
        *(f"{start},window={length}" for length in lengths),
        f"{start},decay={min(0.9999, (middle - 1) / (middle + 1)):.4g}",
        f"{start},window={middle},drift=0.01",
    ]
    flag = "--budget" if window is None else "--window"
    return settings.with_value("grid.policy.placer", placers, flag)


def _lengths(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[0-9]{1,7}", part) and int(part) > 1 for part in parts):
        raise UsageError(
            f"--window: expected numbers of requests, 2 or more, as in 50,100, found "
            f"'{printable(text, 60)}'"
        )
    return sorted({int(part) for part in parts})
