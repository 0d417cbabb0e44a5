"""Execution of cells (simulations) on a dask cluster, with the same outcomes as on one machine.

If a worker dies, the scheduler gives its cells to other workers. It gives a cell up after three
workers have died while they held it (the scheduler's setting `allowed-failures`). Cells that did
not cause the deaths may be among those given up, so each of them is run once more, one at a time.
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
PER_THREAD = 3  # cells submitted per thread: one runs and the others wait
SCHEMES = ("tcp", "tls")


def run_on_cluster(
    work: Work[T], tasks: Sequence[T], address: str
) -> Generator[CellOutcome, None, None]:
    """Yield the outcome of every task as it finishes, in no fixed order.

    Parameters
    ----------
    work
        The function to run; it must belong to a module that the workers can import.
    tasks
        Its arguments; the workers must find the files that these name under the same paths.
    address
        The address of the scheduler, such as "tcp://10.0.0.1:8786".

    Raises
    ------
    UsageError
        If the scheduler cannot be reached, has no workers or stops, or if a worker has other
        versions of the software on which results depend.
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
    """Yield a client of the cluster, after its scheduler and workers were checked."""
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
    """Raise UsageError for an invalid address, or one at which nothing listens."""
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
    """Raise UsageError if a worker's software versions differ from those of this machine."""
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
    """Yield each task with its outcome, or None if the scheduler gave it up."""
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
