"""KV that nothing can resume behind."""

from __future__ import annotations

from collections import OrderedDict

from policies.orders.outlook import Outlook
from simulator.plugins.entries import KvRun


class BareKv:
    """Runs that end in KV behind their last state, in the order in which they came to.

    One that comes to be used, or is shortened to its last state, keeps its place until it is the
    first. `policy_data` of a run is its place, if it has one. `runs` are public for the hot loop
    of the policy: by place, ascending.
    """

    __slots__ = ("_place", "runs")

    def __init__(self) -> None:
        self._place = 0
        self.runs: OrderedDict[int, KvRun] = OrderedDict()

    def offer(self, run: KvRun) -> None:
        """Put a run at the end if it is bare; it loses the place that it had."""
        before = run.policy_data
        if before:
            del self.runs[before]
        states = run.checkpoints
        if (
            run.size_bytes
            and not run.children_resident
            and (not states or states[-1].position < run.kv_end)
        ):
            self._place = place = self._place + 1
            self.runs[place] = run
            run.policy_data = place
        else:
            run.policy_data = None

    def split(self, upper: KvRun, lower: KvRun) -> None:
        """Give `upper` the place of `lower` if all KV lies above now."""
        place = lower.policy_data
        if place and not lower.size_bytes:
            self.runs[place] = upper
            upper.policy_data, lower.policy_data = place, None


class BareView:
    """Goes through bare KV ahead of time; the order itself stays as it is.

    Parameters
    ----------
    bare
        The order.
    outlook
        Says what could go.
    """

    __slots__ = ("_coming", "_freed", "_outlook")

    def __init__(self, bare: BareKv, outlook: Outlook) -> None:
        self._coming = iter(bare.runs.values())
        self._freed: dict[KvRun, None] = {}  # what came to lie bare since
        self._outlook = outlook

    def take(self) -> KvRun | None:
        """Return the first run of which the end could go, and pass it."""
        for run in self._coming:
            if run not in self._freed and self._is_bare(run):
                return run
        for run in self._freed:
            del self._freed[run]
            return run
        return None

    def offer(self, run: KvRun | None) -> None:
        """Put a run at the end if it is bare."""
        if run is not None and self._is_bare(run):
            self._freed[run] = None

    def _is_bare(self, run: KvRun) -> bool:
        if not run.size_bytes or not self._outlook.evictable(run):
            return False
        states = self._outlook.states_of(run)
        return not states or states[-1].position < run.kv_end
