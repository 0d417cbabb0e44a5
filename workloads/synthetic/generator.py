"""Base classes of generators: frozen specs from which traces are drawn."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from simulator.base.bounds import MAX_REQUESTS
from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from workloads.arrivals import ArrivalProcess
from workloads.drift import DRIFTS, Drift, drift_name
from workloads.spec import Spec
from workloads.synthetic.catalogue import Catalogue, PrefixLaw, draw_catalogue
from workloads.synthetic.draws import Float64
from workloads.synthetic.traffic import Traffic, assemble, in_time


class Generator(Protocol):
    """A distribution of traffic; `drifts` are the kinds of drift that it supports."""

    drifts: ClassVar[tuple[str, ...]]

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return a trace of `requests` requests, exact to the token, at the rate of `arrivals`."""
        ...


def check_requests(requests: int) -> None:
    """Raise `UsageError` for a number of requests out of range."""
    if not 1 <= requests <= MAX_REQUESTS:
        limits = f"1 to {MAX_REQUESTS:,}"
        raise UsageError(f"requests: expected {limits}, found {requests:,}")


@dataclass(frozen=True, slots=True)
class SessionGenerator(Spec):
    """A distribution of sessions, each of which starts at an arrival with one request or more.

    Sessions arrive at the rate of requests divided by the mean number of requests per session. The
    share x of the trace at which a session starts, on which all drift depends, is counted in
    sessions: x = (i + 1/2) / (requests / mean) for the i-th. A trace holds the first requests in
    the order of time, so it begins with mostly first requests, and its last sessions are cut.
    """

    name: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    drifts: ClassVar[tuple[str, ...]] = tuple(DRIFTS)

    @property
    @abstractmethod
    def requests_per_session(self) -> float:
        """Exact mean number of requests per session."""

    @abstractmethod
    def catalogues(self, seed: int, drift: Drift) -> list[tuple[float, Catalogue]]:
        """Return the catalogues of shared prefixes, each with the share of sessions that use it."""

    @abstractmethod
    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw the requests of sessions that start at positions x of the trace (0 to 1)."""

    def trace_labels(self) -> tuple[str, ...]:
        """Return the labels of the trace."""
        return self.labels

    def shares(self, sessions: int, requests: int) -> Float64:
        """Return the share x of a trace of `requests` at which each session starts."""
        whole = requests / self.requests_per_session
        share: Float64 = np.minimum((np.arange(sessions) + 0.5) / whole, 1.0)
        return share

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return a trace of `requests` requests, exact to the token, at the rate of `arrivals`.

        Raises
        ------
        UsageError
            For a number, seed, rate or drift out of range.
        """
        check_requests(requests)
        rate = arrivals.rate_per_second / self.requests_per_session
        process = arrivals.at_rate(rate)
        sessions = min(requests, 64 + int(1.05 * requests / self.requests_per_session))
        while True:
            starts = process.times(sessions, seed)
            traffic = self.sessions(seed, drift, self.shares(sessions, requests))
            order, seconds = in_time(traffic, starts, requests)
            # requests of one more session would arrive after its start, hence after all of these
            complete = len(order) == requests and seconds[-1] <= starts[-1]
            if complete or sessions == requests:
                return assemble(traffic, order, seconds, self.name, self.trace_labels())
            sessions = min(2 * sessions, requests)


@dataclass(frozen=True, slots=True)
class PrefixGenerator(SessionGenerator):
    """A distribution of sessions that start with prefixes of one catalogue."""

    @abstractmethod
    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of the prefixes that sessions start with."""

    def catalogue(self, seed: int, drift: Drift) -> Catalogue:
        """Draw the prefixes that sessions start with.

        Raises
        ------
        UsageError
            For a drift of the mix with a larger distance than the mix allows.
        """
        try:
            return draw_catalogue(self.prefix_law(), seed, drift)
        except UsageError as error:
            raise UsageError(
                f"generator '{self.name}': drift '{drift_name(drift)}': {error}"
            ) from None

    def catalogues(self, seed: int, drift: Drift) -> list[tuple[float, Catalogue]]:
        """Return the single catalogue, which all sessions use."""
        return [(1.0, self.catalogue(seed, drift))]
