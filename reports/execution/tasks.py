"""A cell's work as a task for a worker, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, TypeVar

from reports.artifacts.journal import CellOutcome
from simulator.base.errors import MilepostError, printable


class Task(Protocol):
    """A task for a worker: picklable, and named after its cell."""

    @property
    def identity(self) -> str:
        """The cell."""
        ...


T = TypeVar("T", bound=Task)
Work = Callable[[T], CellOutcome]


def guarded(work: Work[T], task: T) -> CellOutcome:
    """Run the work of a task; an error becomes one line of the outcome."""
    try:
        return work(task)
    except MilepostError as error:
        return CellOutcome(task.identity, None, str(error))
    except (Exception, SystemExit) as error:  # one cell (or a plug-in) must not lose the others
        if os.environ.get("MILEPOST_DEBUG"):
            raise
        from policies.own import fault_of

        text = fault_of(error) or printable(f"{type(error).__name__}: {error}", limit=500)
        return CellOutcome(task.identity, None, text)
