"""Mixtures of generators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workloads.drift import Drift
from workloads.randomness import stream
from workloads.synthetic.catalogue import Catalogue
from workloads.synthetic.draws import Float64, pick
from workloads.synthetic.generator import SessionGenerator
from workloads.synthetic.traffic import Traffic, joined


@dataclass(frozen=True, slots=True)
class Mixture(SessionGenerator):
    """Several kinds of traffic at once, each with its share of the requests.

    The kind of each session is drawn with probability proportional to share / mean requests per
    session. Kinds share no prefix and keep their labels.

    Parameters
    ----------
    members
        Pairs of a share, on any scale, and a generator.
    """

    name: ClassVar[str] = "mixture"

    members: tuple[tuple[float, SessionGenerator], ...]

    def problem(self) -> str | None:
        """Return the first problem with the shares, or None."""
        for share, member in self.members:
            if not 0 < share <= 1e9:
                return f"share of '{member.name}': expected above 0 to 1e9, found {share!r}"
        return None if self.members else "mixture: expected at least one generator"

    @property
    def requests_per_session(self) -> float:
        """Mean number of requests per session."""
        shares = np.array([share for share, _ in self.members])
        return float(shares.sum() / self._starting().sum())

    def trace_labels(self) -> tuple[str, ...]:
        """Return the labels of all members, each once."""
        labels = (label for _, member in self.members for label in member.trace_labels())
        return tuple(dict.fromkeys(labels))

    def catalogues(self, seed: int, drift: Drift) -> list[tuple[float, Catalogue]]:
        """Return the shared prefixes of all members."""
        weights = self._starting() / self._starting().sum()
        return [
            (float(weight) * inner, catalogue)
            for weight, (at, (_, member)) in zip(weights, enumerate(self.members), strict=True)
            for inner, catalogue in member.catalogues(_seed(seed, at), drift)
        ]

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw sessions of all kinds, which start at positions x of the trace (0 to 1)."""
        kind = pick(stream(seed, "kinds").random(len(x)), self._starting())
        parts: list[Traffic] = []
        for at, (_, member) in enumerate(self.members):
            of_kind = np.flatnonzero(kind == at)
            drawn = member.sessions(_seed(seed, at), drift, x[of_kind])
            labels = [self.trace_labels().index(label) for label in member.trace_labels()]
            used = parts[-1].distinct if parts else 0
            parts.append(drawn.embedded(of_kind, used, np.array(labels)))
        return joined(parts)

    def _starting(self) -> Float64:
        """Return the rate of sessions of each kind, on the scale of the shares."""
        return np.array([share / member.requests_per_session for share, member in self.members])


def _seed(seed: int, at: int) -> int:
    """Return the seed of the member at index `at`, so that equal generators draw differently."""
    return int(stream(seed, f"member {at}").integers(2**62))
