"""The two tables of ServeGen windows: each client's request rate, and its lengths."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from simulator.base.errors import DataError, printable
from workloads.reading.fields import MAX_TOKENS, Problem, short

LEVELS = (0.05, 0.25, 0.50, 0.75, 0.95, 0.99)
USUAL_WINDOW_SECONDS = 600


class ClientWindow(msgspec.Struct, frozen=True, gc=False):
    """A client's requests per second in a window, and its interarrival distribution."""

    pool: str
    client: int
    window_s: int
    rate: float
    pattern: str = ""
    param1: float = 0.0


class Lengths(msgspec.Struct, frozen=True, gc=False):
    """Quantiles of a client's prompt and output lengths in tokens, from a window on."""

    pool: str
    client: int
    window_s: int
    in_p5: float
    in_p25: float
    in_p50: float
    in_p75: float
    in_p95: float
    in_p99: float
    out_p5: float
    out_p25: float
    out_p50: float
    out_p75: float
    out_p95: float
    out_p99: float

    def prompts(self) -> tuple[float, ...]:
        """Return the quantiles of prompt lengths at `LEVELS`."""
        return self.in_p5, self.in_p25, self.in_p50, self.in_p75, self.in_p95, self.in_p99

    def outputs(self) -> tuple[float, ...]:
        """Return the quantiles of output lengths at `LEVELS`."""
        return self.out_p5, self.out_p25, self.out_p50, self.out_p75, self.out_p95, self.out_p99


@dataclass(slots=True)
class Tables:
    """Both tables: windows with a rate above 0, and each client's lengths."""

    source: Path  # file of the lengths
    known: set[tuple[str, int, int]] = field(
        default_factory=set
    )  # windows, including those with a rate of 0
    windows: list[tuple[ClientWindow, int]] = field(default_factory=list)
    lengths: dict[tuple[str, int], list[Lengths]] = field(default_factory=lambda: defaultdict(list))

    def take_window(self, window: ClientWindow, number: int) -> Problem | None:
        """Keep a window, or return what is wrong with it."""
        name = window.pool, window.client, window.window_s
        if name in self.known:
            return "window_s", "expected each window of a client once, found it again"
        problem = _window_problem(window)
        if problem is None:
            self.known.add(name)
            if window.rate > 0:
                self.windows.append((window, number))
        return problem

    def take_lengths(self, lengths: Lengths, number: int) -> Problem | None:
        """Keep a row of quantiles, or return what is wrong with it."""
        problem = _quantile_problem("in", lengths.prompts()) or _quantile_problem(
            "out", lengths.outputs()
        )
        if problem is None:
            self.lengths[lengths.pool, lengths.client].append(lengths)
        return problem

    def sort_lengths(self) -> None:
        """Sort the lengths of each client by their windows."""
        for known in self.lengths.values():
            known.sort(key=lambda lengths: lengths.window_s)

    def lengths_of(self, window: ClientWindow) -> list[Lengths]:
        """Return the lengths for a window: its client's, or those of all clients in its pool.

        Raises
        ------
        DataError
            For a pool without lengths.
        """
        own = window.pool, window.client
        clients = [own] if own in self.lengths else [k for k in self.lengths if k[0] == own[0]]
        if not clients:
            pool = printable(window.pool, 40)
            raise DataError(str(self.source), f"expected lengths of pool '{pool}', found none")
        return [_last_begun(self.lengths[client], window.window_s) for client in clients]

    def window_seconds(self) -> int:
        """Return the length of a window, the smallest difference between two starts."""
        starts = np.unique([window.window_s for window, _ in self.windows])
        return int(np.diff(starts).min()) if len(starts) > 1 else USUAL_WINDOW_SECONDS


def _last_begun(known: list[Lengths], seconds: int) -> Lengths:
    at = bisect_right(known, seconds, key=lambda lengths: lengths.window_s)
    return known[max(at - 1, 0)]


def _window_problem(window: ClientWindow) -> Problem | None:
    for name, value, high in (("window_s", window.window_s, 1e9), ("rate", window.rate, 1e6)):
        if not 0 <= value <= high:
            return name, f"expected a number from 0 to {high:g}, found {short(value)}"
    if window.rate > 0 and window.pattern not in {"Gamma", "Weibull"}:
        return "pattern", f"expected Gamma or Weibull, found '{printable(window.pattern, 40)}'"
    if window.rate > 0 and not 1e-3 <= window.param1 <= 1e9:
        return "param1", f"expected a shape from 0.001 to 1e+09, found {short(window.param1)}"
    return None


def _quantile_problem(side: str, values: tuple[float, ...]) -> Problem | None:
    """Return the first quantile that is no token count or below the one before, if any."""
    for at, value in enumerate(values):
        field = f"{side}_p{LEVELS[at] * 100:.0f}"
        if not 0 <= value <= MAX_TOKENS:
            return field, f"expected 0 to {MAX_TOKENS:,} tokens, found {short(value)}"
        if at and value < values[at - 1]:
            return field, f"expected at least {values[at - 1]:g} as below it, found {value:g}"
    return None
