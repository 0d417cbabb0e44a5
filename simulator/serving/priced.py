"""Steps priced by a cost profile."""

from __future__ import annotations

from simulator.costs.cost_model import CostModel
from simulator.serving.interfaces import Step, StepSeconds


class PricedExecutor:
    """An executor that computes nothing: a profile tells what a step would take.

    The chunks of a step are priced one after another, at batch 1. States and tokens behind the
    prompt come after the first token and cost no prefill.

    Parameters
    ----------
    costs
        Seconds of restore, prefill and capture.
    state_bytes
        Of the state that is restored.
    """

    def __init__(self, costs: CostModel, state_bytes: int) -> None:
        self._costs = costs
        self._restore_seconds = costs.restore_seconds(state_bytes)

    def seconds(self, step: Step) -> StepSeconds:
        """Return the seconds of restore, prefill and capture."""
        restore = prefill = capture = 0.0
        costs = self._costs
        for chunk in step.chunks:
            running, start, stop = chunk.running, chunk.start, chunk.stop
            matched, positions = running.match, running.captures
            prompt = matched.leaf.stop
            if stop > prompt:
                stop = prompt
            if positions and positions[-1] > stop:
                positions = [position for position in positions if position <= stop]
            if start and start == matched.resume:
                restore += self._restore_seconds
            prefill += costs.prefill_seconds(start, stop)
            if positions:
                capture += costs.capture_seconds(start, stop, positions)
        return restore, prefill, capture
