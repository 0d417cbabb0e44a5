"""A process pool for cells: rebuilt when a worker dies, resubmitting only missing cells.

Workers are spawned, since polars deadlocks after a fork. As many cells are in flight as there are
workers, so that a dying worker affects few. Those are then tried one at a time, which separates
the cell that kills workers from the others. Workers get their next cell before the last outcome is
yielded: what the caller does with it, such as an fsync, keeps none of them waiting.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Generic

from reports.artifacts.journal import CellOutcome
from reports.execution.tasks import T, Work, guarded
from reports.interrupts import interrupts_held_back

DEATHS_ALLOWED = 3


def run_tasks(
    work: Work[T], tasks: Sequence[T], jobs: int, cluster: str | None = None
) -> Generator[CellOutcome, None, None]:
    """Yield the outcome of every task as it finishes, in no fixed order.

    A task that raises, or that kills its worker three times, has an outcome with an error.

    Parameters
    ----------
    work
        The function to run, defined in a module (it is pickled by name).
    tasks
        The arguments, one for each call.
    jobs
        The number of processes; with 1, everything runs in the calling one.
    cluster
        The address of a dask scheduler, whose workers are used instead.

    Raises
    ------
    UsageError
        When there is no such cluster, or it goes away.
    """
    if cluster is not None and tasks:
        from reports.execution.cluster import run_on_cluster

        yield from run_on_cluster(work, tasks, cluster)
    elif jobs <= 1:
        for task in tasks:
            yield guarded(work, task)
    else:
        yield from _Pool(work, min(jobs, len(tasks) or 1)).run(tasks)


class _Pool(Generic[T]):
    """A process pool that is rebuilt when a worker dies."""

    def __init__(self, work: Work[T], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._executor: Executor | None = None
        self._others = set(multiprocessing.active_children())
        self._deaths: dict[str, int] = {}

    def run(self, tasks: Sequence[T]) -> Iterator[CellOutcome]:
        waiting: deque[T] = deque(tasks)
        suspects: deque[T] = deque()
        try:
            while waiting or suspects:
                if waiting:
                    yield from self._drain(waiting, suspects, self._jobs)
                yield from self._drain(suspects, suspects, 1)
        finally:
            self._stop()

    def _drain(self, queue: deque[T], suspects: deque[T], width: int) -> Iterator[CellOutcome]:
        """Run the tasks of a queue; those in flight when a worker dies become suspects."""
        flying: dict[Future[CellOutcome], T] = {}
        landed: list[CellOutcome] = []
        while queue or flying or landed:
            sound = self._fill(flying, queue, width)
            yield from landed
            landed, alive = _land(flying)
            if not (sound and alive):
                wait(flying)
                yield from landed
                yield from self._sort_out(flying, suspects)
                return

    def _fill(self, flying: dict[Future[CellOutcome], T], queue: deque[T], width: int) -> bool:
        """Submit tasks up to the limit of those in flight; return False if the pool is broken."""
        while queue and len(flying) < width:
            if self._executor is None:
                self._executor = _new_executor(self._jobs)
            try:
                with interrupts_held_back():  # it starts workers: they leave Ctrl-C to us
                    future = self._executor.submit(guarded, self._work, queue[0])
            except BrokenProcessPool:
                return False
            flying[future] = queue.popleft()
        return True

    def _sort_out(
        self, flying: dict[Future[CellOutcome], T], suspects: deque[T]
    ) -> Iterator[CellOutcome]:
        """Drop the broken pool; count a failure for each task in flight, giving up at the limit."""
        self._stop()
        for future, task in flying.items():
            if future.exception() is None:
                yield future.result()
                continue
            deaths = self._deaths[task.identity] = self._deaths.get(task.identity, 0) + 1
            if deaths < DEATHS_ALLOWED:
                suspects.append(task)
            else:
                problem = f"its worker process died {deaths} times (out of memory?)"
                yield CellOutcome(task.identity, None, problem)

    def _stop(self) -> None:
        if self._executor is not None:
            for process in set(multiprocessing.active_children()) - self._others:
                process.terminate()
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


def _land(flying: dict[Future[CellOutcome], T]) -> tuple[list[CellOutcome], bool]:
    """Wait until some tasks end; return their outcomes, and False if a worker has died."""
    landed, alive = [], True
    for future in wait(flying, return_when=FIRST_COMPLETED).done if flying else ():
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            alive = False
        elif error is not None:
            raise error
        else:
            del flying[future]
            landed.append(future.result())
    return landed, alive


def _new_executor(jobs: int) -> Executor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """End when the parent does, however it ends; Ctrl-C is left to it from the first moment."""
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_sentinel([parent.sentinel])
        os._exit(1)
