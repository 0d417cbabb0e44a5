"""Steps priced by a cost profile."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.costs.cost_model import CostModel
from simulator.serving.step import Step, StepSeconds


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
        for chunk in step.chunks:
            running, start, stop = chunk.running, chunk.start, chunk.stop
            matched, positions = running.match, running.captures
            prompt = matched.leaf.stop
            if stop > prompt:
                stop = prompt
            if positions and positions[-1] > stop:
                positions = [position for position in positions if position <= stop]
            seconds = self.price(matched.resume, start, stop, positions)
            restore += seconds[0]
            prefill += seconds[1]
            capture += seconds[2]
        return restore, prefill, capture

    def price(self, resume: int, start: int, stop: int, positions: Sequence[int]) -> StepSeconds:
        """Return the seconds of restore, prefill and capture of the tokens `(start, stop]`.

        They are of a prompt with its resume point at `resume`; states are captured at `positions`.
        """
        costs = self._costs
        return (
            self._restore_seconds if 0 < start == resume else 0.0,
            costs.prefill_seconds(start, stop),
            costs.capture_seconds(start, stop, positions) if positions else 0.0,
        )
