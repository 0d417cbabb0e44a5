"""ServeGen windows: each client's request rate and lengths, from which requests are drawn.

Source: alibaba/ServeGen (Xiang et al., NSDI 2026). A table of arrival windows has the columns pool,
client, window_s, rate, pattern and param1 (requests/s, Gamma or Weibull and its shape; an idle
window has no pattern and a rate of 0). In the same folder, the table `length_quantiles` has pool,
client, window_s and the quantiles in_p5 ... in_p99 and out_p5 ... out_p99 in tokens. Both are
Parquet or CSV. The path is the first table, or the folder of both.

- The file holds distributions, not requests: these are drawn with the seed of the options.
  Arrivals are those of `workloads.gaps.Client`, window by window.
- Lengths are independent, and linear between the quantiles; nothing is drawn below p5 or above p99,
  so that the longest requests are missing. Each client's most recent length window is used, or its
  first. Where a client has none (often the heaviest), each of its requests takes the lengths of a
  random client in its pool, which is noted.
- A window is as long as the smallest difference between starts of windows, 600 s if there is one.
- Labels are the pools. Prompts share nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.formats.parts.servegen_tables import LEVELS, ClientWindow, Lengths, Tables
from workloads.gaps import Client
from workloads.options import ReadOptions
from workloads.prefixes.prompts import BlockKeys
from workloads.randomness import stream
from workloads.reading.csv_lines import read_csv_lines
from workloads.reading.fields import Problem
from workloads.reading.parquet import is_parquet, read_parquet_rows
from workloads.rows import Rows

MAX_REQUESTS = 5_000_000
WINDOWS, LENGTHS = "arrival_windows", "length_quantiles"
SUFFIXES = (".parquet", ".csv", ".csv.gz")

Line = TypeVar("Line", bound=msgspec.Struct)
Float64 = NDArray[np.float64]


def read(path: Path, options: ReadOptions) -> Rows:
    """Read both tables and draw the requests.

    Raises
    ------
    DataError
        For a table that is missing or invalid, or windows with more than `MAX_REQUESTS`
        requests.
    """
    prompts = BlockKeys(1)
    rows = Rows(prompts, options.on_bad_line)
    windows, lengths = _paths(path)
    tables = Tables(lengths)
    _read_table(windows, rows, ClientWindow, tables.take_window)
    _read_table(lengths, rows, Lengths, tables.take_lengths)
    tables.sort_lengths()
    seconds = tables.window_seconds()
    _check_size(windows, tables, seconds)
    _Drawing(rows, prompts, tables, seconds, options.seed or 0).run()
    return rows


def _paths(path: Path) -> tuple[Path, Path]:
    return (_table(path, WINDOWS) if path.is_dir() else path), _table(path, LENGTHS)


def _table(path: Path, name: str) -> Path:
    """Return the path of a table in the folder, or in the folder of the file."""
    folder = path if path.is_dir() else path.parent
    for suffix in SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    where = "in the folder" if path.is_dir() else "beside it"
    raise DataError(str(path), f"expected a file {name} {where} ({', '.join(SUFFIXES)})")


def _read_table(
    path: Path, rows: Rows, kind: type[Line], take: Callable[[Line, int], Problem | None]
) -> None:
    (read_parquet_rows if is_parquet(path) else read_csv_lines)(path, rows, kind, take)


def _check_size(path: Path, tables: Tables, seconds: int) -> None:
    """Raise `DataError` for windows with no request or with too many."""
    expected = sum(window.rate for window, _ in tables.windows) * seconds
    if not tables.windows:
        raise DataError(str(path), "expected a window with requests, found none")
    if expected > MAX_REQUESTS:
        what = f"the windows stand for about {expected:,.0f} requests, over the limit of"
        raise DataError(str(path), f"{what} {MAX_REQUESTS:,}: keep fewer pools, clients or windows")


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Draw of requests from the distributions in the tables."""

    rows: Rows
    prompts: BlockKeys
    tables: Tables
    seconds: int
    seed: int

    def run(self) -> None:
        """Add all requests in the order of time."""
        pools = sorted({window.pool for window, _ in self.tables.windows})
        columns = [np.zeros((5, 0))]
        for window, line in self.tables.windows:
            lengths = self.tables.lengths_of(window)
            if (window.pool, window.client) not in self.tables.lengths:
                detail = "a window of a client without lengths: those of others in its pool"
                self.rows.note("no-lengths", line, detail)
            columns.append(self._requests(window, lengths, line, pools.index(window.pool)))
        drawn = np.concatenate(columns, axis=1)
        for time, prompt, output, line, pool in drawn[:, np.argsort(drawn[0], kind="stable")].T:
            self.prompts.add(())
            self.rows.add(int(line), int(prompt), int(output), time, None, pools[int(pool)])

    def _requests(
        self, window: ClientWindow, lengths: list[Lengths], line: int, pool: int
    ) -> Float64:
        """Draw a window's requests: rows of times, prompts, outputs, line and pool."""
        place = f"{window.pool}, {window.window_s} s"
        seed = int(stream(self.seed, f"windows of {place}").integers(1 << 62))
        client = Client(window.client, window.rate, window.pattern, window.param1)
        times = window.window_s + client.until(self.seconds, seed)
        random = stream(seed, f"lengths of client {window.client}")
        which = random.integers(len(lengths), size=len(times))
        prompts = _draw_lengths(random, np.array([known.prompts() for known in lengths])[which])
        outputs = _draw_lengths(random, np.array([known.outputs() for known in lengths])[which])
        same = np.ones_like(times)
        return np.stack([times, np.maximum(prompts, 1), outputs, line * same, pool * same])


def _draw_lengths(random: np.random.Generator, quantiles: Float64) -> Float64:
    """Draw a whole number of tokens from each row of quantiles, shape (requests, levels)."""
    levels = np.array(LEVELS)
    at = np.clip(random.random(len(quantiles)), levels[0], levels[-1])
    step = np.clip(np.searchsorted(levels, at, side="right") - 1, 0, len(levels) - 2)
    share = (at - levels[step]) / np.diff(levels)[step]
    row = np.arange(len(quantiles))
    low, high = quantiles[row, step], quantiles[row, step + 1]
    drawn: Float64 = np.rint(low + share * (high - low))
    return drawn


def matches(head: Head) -> bool:
    """Return whether a folder has both tables, or a table the columns of the first."""
    if head.names:
        return all(
            any(f"{name}{end}" in head.names for end in SUFFIXES) for name in (WINDOWS, LENGTHS)
        )
    return head.has_columns("pool", "client", "window_s", "rate", "pattern", "param1")


SERVEGEN = TraceFormat(
    name="servegen",
    title="ServeGen windows (Parquet or CSV): laws of arrivals and lengths, drawn as requests",
    read=read,
    matches=matches,
    options=frozenset({"seed"}),
)
