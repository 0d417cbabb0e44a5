"""Laws by document and by label, each shrunk towards the next wider scope."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from policies.estimation.window import WindowEstimator
from policies.parameters import require, require_at_least
from simulator.plugins.protocols import Law, Overlap

Shares = dict[int, float]


class MixtureEstimator(WindowEstimator):
    """Shrink the law of a document towards that of its label, and that towards all requests.

    With n observations and law p of the narrow scope, q the law of the wider one and `shrinkage`
    k, the estimate is (n p + k q) / (n + k): the posterior mean under a Dirichlet prior with mean
    q and weight k. So a document that was seen once has nearly the law of its label, one that was
    seen a hundred times nearly its own. A session stands for the document.

    `law()` is that of all requests; `law_for` gives that of a label or document, as of the last
    call of `settle`: so that it depends on what was observed, not on when it was asked for.

    Parameters
    ----------
    requests
        Length of the window of each scope, 1 to 1,000,000.
    shrinkage
        Observations that the wider law weighs as much as; above 0.
    documents
        Sessions to remember, 1 or more; the least recently seen is forgotten.

    Source: Dirichlet shrinkage: Good 1965, The Estimation of Probabilities.

    Examples
    --------
    >>> from policies.estimation import MixtureEstimator
    >>> from simulator.plugins.protocols import Overlap
    >>> mixture = MixtureEstimator(shrinkage=2)
    >>> for depth, label in [(4, 0), (4, 0), (8, 1), (8, 1)]:
    ...     mixture.observe(Overlap(depth, prompt_tokens=10, label=label))
    >>> mixture.settle()
    >>> mixture.law_for(label=1).weights.tolist()  # 4 and 8: half its own law, half that of all
    [0.25, 0.75]
    """

    def __init__(
        self, requests: int = 100, shrinkage: float = 10.0, documents: int = 10_000
    ) -> None:
        require(0 < shrinkage <= 1e9, "shrinkage", "above 0 and at most 1e9", shrinkage)
        require_at_least("documents", documents, 1)
        super().__init__(requests)
        self._requests = requests
        self._shrinkage = shrinkage
        self._documents = documents
        self._by_label: dict[int, _Scope] = {}
        self._by_session: OrderedDict[int, _Scope] = OrderedDict()
        self._touched: list[_Scope] = []
        self._settled = self.law()

    def observe(self, overlap: Overlap) -> None:
        """Take one more observation, in every scope that it belongs to."""
        super().observe(overlap)
        if overlap.label >= 0:
            scope = self._by_label.get(overlap.label)
            if scope is None:
                scope = self._by_label[overlap.label] = _Scope(self._requests)
            self._observe(scope, overlap)
        if overlap.session >= 0:
            scope = self._by_session.get(overlap.session)
            if scope is None:
                scope = self._by_session[overlap.session] = _Scope(self._requests)
            self._observe(scope, overlap)
            self._by_session.move_to_end(overlap.session)
            if len(self._by_session) > self._documents:
                self._by_session.popitem(last=False)

    def settle(self) -> None:
        """Make `law_for` return the laws as they are now."""
        self._settled = self.law()
        for scope in self._touched:
            scope.settle()
        self._touched.clear()

    def law_for(self, label: int = -1, session: int = -1) -> Law:
        """Return the law of one document of one label, as probabilities; -1 where unknown.

        Its version is that of the law of all requests. Empty before the first observation.
        """
        shares = _shares(self._settled)
        if not shares:
            return self._settled
        for scope in (self._by_label.get(label), self._by_session.get(session)):
            if scope is not None and scope.samples:
                shares = self._shrunk(scope, shares)
        depths = sorted(depth for depth in shares if depth > 0)
        return Law(
            np.array(depths, np.int64),
            np.array([shares[depth] for depth in depths], np.float64),
            shares.get(0, 0.0),
            self._settled.version,
        )

    def _observe(self, scope: _Scope, overlap: Overlap) -> None:
        scope.window.observe(overlap)
        self._touched.append(scope)

    def _shrunk(self, scope: _Scope, wider: Shares) -> Shares:
        prior = self._shrinkage
        total = scope.samples + prior
        mixed = {depth: share * prior / total for depth, share in wider.items()}
        for depth, share in scope.shares.items():
            mixed[depth] = mixed.get(depth, 0.0) + share * scope.samples / total
        return mixed


class _Scope:
    """The overlaps of one label or session, and its law when it was last settled."""

    __slots__ = ("samples", "shares", "window")

    def __init__(self, requests: int) -> None:
        self.window = WindowEstimator(requests)
        self.samples = 0.0
        self.shares: Shares = {}

    def settle(self) -> None:
        self.samples = self.window.effective_samples
        self.shares = _shares(self.window.law())


def _shares(law: Law) -> Shares:
    """Return the probability of each depth, misses included; empty for an empty law."""
    total = law.misses + float(law.weights.sum())
    if total <= 0.0:
        return {}
    shares = dict(zip(law.depths.tolist(), (law.weights / total).tolist(), strict=True))
    if law.misses:
        shares[0] = law.misses / total
    return shares
