"""Cells on the workers of a dask cluster, with the same outcomes as on this machine.

The scheduler gives what a dead worker had to the others, and gives a cell up when three have died
running it (its `allowed-failures`). Innocent cells may be among them, so they are then tried
once more, one at a time.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reports.artifacts.journal import CellOutcome
from reports.execution.tasks import T, Work, guarded
from reports.version import version, versions
from simulator.base.errors import UsageError, printable
from simulator.base.installing import install_hint

if TYPE_CHECKING:
    from distributed import Client

WAIT_SECONDS = 10
PER_THREAD = 3  # cells in flight: some wait beside the one that runs
SCHEMES = ("tcp", "tls")


def run_on_cluster(
    work: Work[T], tasks: Sequence[T], address: str
) -> Generator[CellOutcome, None, None]:
    """Yield the outcome of every task as it comes, in no promised order.

    Parameters
    ----------
    work
        A function of a module that the workers can import.
    tasks
        What to work on; what they open by path the workers must find there.
    address
        Of the scheduler, such as "tcp://10.0.0.1:8786".

    Raises
    ------
    UsageError
        Where the scheduler cannot be reached, has no workers, has one with other versions of
        what results depend on, or goes away.
    """
    with _connected(address) as client:
        run = partial(guarded, work)
        suspects: list[T] = []
        for task, outcome in _outcomes(client, run, tasks, address):
            if outcome is None:
                suspects.append(task)
            else:
                yield outcome
        for suspect in suspects:
            for task, outcome in _outcomes(client, run, [suspect], address):
                yield outcome or CellOutcome(task.identity, None, "its worker processes died")


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Yield a client of a cluster that can be used."""
    _refuse_unreachable(address)
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(
            f"--cluster: dask.distributed is not installed: {install_hint('cluster')}"
        ) from None
    name = printable(address)
    try:
        client = Client(address, timeout=WAIT_SECONDS)
    except OSError:
        raise UsageError(f"--cluster {name}: no dask scheduler answers there") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except TimeoutError:
            raise UsageError(f"--cluster {name}: the scheduler has no workers") from None
        _refuse_others(client)
        yield client


def _refuse_unreachable(address: str) -> None:
    """Refuse an address where nothing listens, before a client waits for it."""
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in SCHEMES or not parts.hostname or port is None:
        raise UsageError(
            f"--cluster: expected an address such as tcp://10.0.0.1:8786, found "
            f"'{printable(address)}'"
        )
    try:
        socket.create_connection((parts.hostname, port), timeout=WAIT_SECONDS).close()
    except OSError as error:
        problem = error.strerror or error
        raise UsageError(f"--cluster {printable(address)}: {problem}") from None


def _refuse_others(client: Client) -> None:
    """Refuse workers whose results might differ from those of this machine."""
    ours = _software()
    for worker, theirs in client.run(_software, on_error="return").items():
        if isinstance(theirs, BaseException):
            problem = f"{type(theirs).__name__}: {theirs}"
            raise UsageError(f"--cluster: worker {worker}: {printable(problem)}")
        for name, here in ours.items():
            if theirs[name] != here:
                raise UsageError(
                    f"--cluster: worker {worker} has {name} {theirs[name]}, expected {here} as "
                    "here: results could differ"
                )


def _software() -> dict[str, str]:
    return {"milepost": version(), **versions()}


def _outcomes(
    client: Client, run: Work[T], tasks: Sequence[T], address: str
) -> Iterator[tuple[T, CellOutcome | None]]:
    """Yield each task with its outcome, None where it killed its workers."""
    from distributed import CancelledError, Future, wait
    from distributed.scheduler import KilledWorker

    waiting = deque(tasks)
    flying: dict[Future, T] = {}
    while waiting or flying:
        width = PER_THREAD * sum(client.nthreads().values()) or 1  # workers come and go
        while waiting and len(flying) < width:
            task = waiting.popleft()
            flying[client.submit(run, task, pure=False)] = task
        try:
            for future in wait([*flying], return_when="FIRST_COMPLETED").done:
                task = flying.pop(future)
                error = future.exception()
                if error is not None and not isinstance(error, KilledWorker):
                    raise error
                yield task, None if error else future.result()
        except CancelledError:
            raise UsageError(f"--cluster {printable(address)}: the scheduler went away") from None
