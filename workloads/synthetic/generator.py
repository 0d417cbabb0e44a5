"""What every generator is: a frozen spec that becomes a trace."""

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
    """A law of traffic; `drifts` names the kinds of drift that it follows."""

    drifts: ClassVar[tuple[str, ...]]

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return a trace of so many requests at the arrivals' rate, single tokens exact."""
        ...


def check_requests(requests: int) -> None:
    """Raise `UsageError` where a number of requests is out of range."""
    if not 1 <= requests <= MAX_REQUESTS:
        limits = f"1 to {MAX_REQUESTS:,}"
        raise UsageError(f"requests: expected {limits}, found {requests:,}")


@dataclass(frozen=True, slots=True)
class SessionGenerator(Spec):
    """A law of sessions: each starts at an arrival and brings one request or more.

    Sessions arrive at the rate of requests divided by the mean number of requests a session. The
    share x of the trace at which a session starts, on which all drift depends, is counted in
    sessions: x = (i + 1/2) / (requests / mean) for the i-th. Requests are taken in order of time;
    so the first ones of a trace are mostly starts, and the last sessions are cut.
    """

    name: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    drifts: ClassVar[tuple[str, ...]] = tuple(DRIFTS)

    @property
    @abstractmethod
    def requests_per_session(self) -> float:
        """The mean number of requests a session, exactly."""

    @abstractmethod
    def catalogues(self, seed: int, drift: Drift) -> list[tuple[float, Catalogue]]:
        """Return the shared prefixes of starts, and the share of the sessions that use them."""

    @abstractmethod
    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw the requests of sessions that start at shares x of the trace."""

    def trace_labels(self) -> tuple[str, ...]:
        """Return the labels of the trace."""
        return self.labels

    def shares(self, sessions: int, requests: int) -> Float64:
        """Return the share x of a trace of `requests` at which each session starts."""
        whole = requests / self.requests_per_session
        share: Float64 = np.minimum((np.arange(sessions) + 0.5) / whole, 1.0)
        return share

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return a trace of so many requests at the arrivals' rate, single tokens exact.

        Raises
        ------
        UsageError
            For a number, a seed, a rate or a drift that is out of range.
        """
        check_requests(requests)
        rate = arrivals.rate_per_second / self.requests_per_session
        process = arrivals.at_rate(rate)
        sessions = min(requests, 64 + int(1.05 * requests / self.requests_per_session))
        while True:
            starts = process.times(sessions, seed)
            traffic = self.sessions(seed, drift, self.shares(sessions, requests))
            order, seconds = in_time(traffic, starts, requests)
            # whatever one more session brought would come after its start, so after all of these
            complete = len(order) == requests and seconds[-1] <= starts[-1]
            if complete or sessions == requests:
                return assemble(traffic, order, seconds, self.name, self.trace_labels())
            sessions = min(2 * sessions, requests)


@dataclass(frozen=True, slots=True)
class PrefixGenerator(SessionGenerator):
    """A law of sessions that start with prefixes of one catalogue."""

    @abstractmethod
    def prefix_law(self) -> PrefixLaw:
        """Return the law of the prefixes that sessions start with."""

    def catalogue(self, seed: int, drift: Drift) -> Catalogue:
        """Draw the prefixes that sessions start with.

        Raises
        ------
        UsageError
            For a drift of the mix that goes further than the mix allows.
        """
        try:
            return draw_catalogue(self.prefix_law(), seed, drift)
        except UsageError as error:
            raise UsageError(
                f"generator '{self.name}': drift '{drift_name(drift)}': {error}"
            ) from None

    def catalogues(self, seed: int, drift: Drift) -> list[tuple[float, Catalogue]]:
        """Return the only one."""
        return [(1.0, self.catalogue(seed, drift))]
