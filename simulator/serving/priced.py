"""An executor that takes the duration of steps from a cost profile."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.costs.cost_model import CostModel
from simulator.serving.step import Step, StepSeconds


class PricedExecutor:
    """An executor that computes nothing and returns the durations given by a cost model.

    The duration of a step is the sum over its chunks, each at batch size 1. Work after the first
    token, such as storing states during decode, costs nothing here.

    Parameters
    ----------
    costs
        The cost model.
    state_bytes
        Bytes of a state, which determine the time to load one.
    """

    def __init__(self, costs: CostModel, state_bytes: int) -> None:
        self._costs = costs
        self._restore_seconds = costs.restore_seconds(state_bytes)

    def seconds(self, step: Step) -> StepSeconds:
        """Return the seconds a step spends on loading states, computing, and storing states."""
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
        """Return the seconds of loading a state, computing `(start, stop]`, and storing states.

        Parameters
        ----------
        resume
            Position from which the request continues; a state is loaded if the chunk starts there.
        start, stop
            The chunk, in tokens from the start of the prompt.
        positions
            Where states are stored.
        """
        costs = self._costs
        return (
            self._restore_seconds if 0 < start == resume else 0.0,
            costs.prefill_seconds(start, stop),
            costs.capture_seconds(start, stop, positions) if positions else 0.0,
        )
