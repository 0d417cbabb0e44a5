"""Workers, output folder and progress of the commands that run many cells."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from reports.commands.declared import options
from reports.console import Progress, say
from reports.study.settings import Settings

CELLS_FAILED = 4


@options
class FolderOption:
    """The option of the folder from which a stopped command continues."""

    out: Annotated[
        Path | None, typer.Option(help="Folder for the page, and to go on from when stopped.")
    ] = None


@options
class WorkerOptions:
    """Options of where cells are computed."""

    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Processes; default: one a core.")
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A dask scheduler, as in tcp://10.0.0.1:8786; its workers see the same files.",
        ),
    ] = None

    def workers(self) -> int:
        """Return the number of local processes; refuse the option beside a cluster."""
        if self.jobs is not None and self.cluster is not None:
            raise typer.BadParameter(
                "contradicts --cluster, whose workers are used", param_hint="--jobs"
            )
        return self.jobs or cores()


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


@contextmanager
def running(
    settings: Settings, out: Path | None, *, quiet: bool, what: str = "cells"
) -> Iterator[Callable[[int, int], None]]:
    """Yield the progress display; on Ctrl-C, print how to continue."""
    resumable = out is not None
    try:
        shown = Progress(quiet=quiet, what=what, resumable=resumable)
        with settings.naming(), shown as progress:
            yield progress
    except KeyboardInterrupt:
        if resumable:
            say(f"the {what} done so far are kept in {out}: the same command goes on from there")
        raise
