"""Arrivals of one ServeGen window: many clients, each with its own burstiness."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.base.errors import DataError, did_you_mean
from workloads.arrivals.base import ArrivalProcess
from workloads.gaps import Client, Float64
from workloads.reading.files import open_file
from workloads.spec import knob

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("pool", "client", "window_s", "rate", "pattern", "param1")
_PATTERNS = ("Gamma", "Weibull")


@dataclass(frozen=True, slots=True)
class ServeGen(ArrivalProcess):
    """The superposed arrivals of all clients in one window of a ServeGen file.

    Each client has independent interarrival times, gamma or Weibull with the shape in the file.
    Their mean comes from the client's rate; the fitted scale is not used, since it misses that rate
    by some percent. The distributions of the window hold for the whole trace, however long it is.

    Source: Xiang et al., ServeGen: workload characterization and generation of large language model
    serving in production (2025).

    Parameters
    ----------
    rate
        Requests per second, summed over all clients. None: as in the window.
    path
        A Parquet file with columns pool, client, window_s, rate, pattern, param1 (the shape).
    pool
        Name of the pool of clients; may be empty if the file has only one.
    window
        Start of the window in seconds, as in the column window_s.
    """

    path: str = ""
    pool: str = ""
    window: int = knob(0, 0, 10**9)

    @property
    def file(self) -> str:
        """The file at `path`."""
        return self.path

    @property
    def rate_per_second(self) -> float:
        """Rate summed over all clients, in requests per second."""
        return self.rate or sum(client.rate for client in self.clients())

    def clients(self) -> list[Client]:
        """Return the clients that send requests in the window.

        Raises
        ------
        DataError
            If the file, pool or window does not exist, or a client's values are invalid.
        """
        rows = _read(self.path)
        pool = self._pool(rows["pool"].unique().sort().to_list())
        chosen = rows.filter((rows["pool"] == pool) & (rows["window_s"] == self.window))
        active = chosen.filter(chosen["rate"] > 0).sort("client")
        if active.is_empty():
            raise DataError(self.path, f"no client of pool '{pool}' is active at {self.window} s")
        return [_client(self.path, row) for row in active.iter_rows(named=True)]

    def _pool(self, known: list[str]) -> str:
        if self.pool in known:
            return self.pool
        if not self.pool and len(known) == 1:
            return known[0]
        raise DataError(self.path, f"no pool '{self.pool}'{did_you_mean(self.pool, known)}")

    def _draw(self, count: int, seed: int) -> Float64:
        clients = self.clients()
        own_rate = sum(client.rate for client in clients)
        seconds = 1.1 * count / own_rate
        times = np.zeros(0)
        while len(times) < count:  # a longer draw of a client begins with the same times
            drawn = [client.until(seconds, seed) for client in clients]
            times = np.sort(np.concatenate(drawn))
            seconds *= 2
        return times[:count] * own_rate / (self.rate or own_rate)


def _read(path: str) -> pl.DataFrame:
    import polars as pl

    open_file(Path(path)).close()
    try:
        table = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(path, f"is no Parquet file: {str(error).splitlines()[0]}") from None
    for name in _COLUMNS:
        text = name in {"pool", "pattern"}
        sound = name in table.columns and (
            table[name].dtype == pl.String if text else table[name].dtype.is_numeric()
        )
        if not sound:
            raise DataError(
                path, f"expected a column of {'text' if text else 'numbers'}", field=name
            )
    return table.select(_COLUMNS)


def _client(path: str, row: dict[str, Any]) -> Client:
    """Return the client of one row; raise `DataError` for an invalid value."""
    where = f"client {row['client']}"
    if row["pattern"] not in _PATTERNS:
        raise DataError(
            path, f"{where}: expected Gamma or Weibull, found {row['pattern']!r}", field="pattern"
        )
    for name, low, high in (("rate", 1e-9, 1e6), ("param1", 1e-3, 1e9)):
        value = row[name]
        if value is None or not low <= value <= high:
            expected = f"expected a number from {low:g} to {high:g}"
            raise DataError(path, f"{where}: {expected}, found {value!r}", field=name)
    return Client(row["client"], row["rate"], row["pattern"], row["param1"])
