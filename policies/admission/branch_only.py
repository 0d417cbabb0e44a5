"""Admission of states where prompts diverge or end."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from simulator.plugins.context import CacheContext
from simulator.plugins.departures import Departures
from simulator.plugins.entries import Entry, KvSpan
from simulator.plugins.protocols import Overlap


class BranchOnly(BaseAdmission):
    """Admit the states at the branch points of the prompt and at its end, and all KV.

    All other states that the placer wants are refused, since no prompt has diverged there yet.
    Branch points are those known when the request has been served; a state behind the prompt, in
    its answer, counts as an end. Branch points and ends are floored to the grid.

    Source: R. Pan et al., "Marconi: prefix caching for the era of hybrid LLMs", MLSys 2025,
    section 4.1 (judicious admission).

    Examples
    --------
    >>> from policies.tryout import serve
    >>> served = serve(["abcdef", "abcdxy"], placer="block:size=1", admission="branch_only")
    >>> served.written  # of a state after each token: the end, then the branch point and the end
    [[6], [4, 6]]
    """

    observes: ClassVar[bool] = True

    def __init__(self) -> None:
        self._context: CacheContext | None = None
        self._request: Overlap | None = None
        self._points: set[int] | None = None

    def begin(self, context: CacheContext) -> None:
        """Read the grid of checkpoint positions."""
        self._context = context

    def observe(self, overlap: Overlap) -> None:
        """Note the request."""
        self._request = overlap
        self._points = None

    def admit(self, candidate: Entry, size_bytes: int, departures: Departures) -> bool:
        """Say whether it is KV, or a state at a branch point or an end."""
        del size_bytes, departures
        request = self._request
        if isinstance(candidate, KvSpan) or request is None or request.span is None:
            return True
        if candidate.position > request.prompt_tokens:
            return True
        if self._points is None:
            self._points = self._points_of(request.span)
        return candidate.position in self._points

    def _points_of(self, leaf: KvSpan) -> set[int]:
        points = {leaf.stop}
        span = leaf.parent
        while span.stop:
            if span.children_seen > 1:
                points.add(span.stop)
            span = span.parent
        grid = None if self._context is None else self._context.grid
        return points if grid is None else {grid.floor(point) for point in points}
