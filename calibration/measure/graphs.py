"""Times CUDA graphs: prefills without kernel launch overhead."""

from __future__ import annotations

from typing import Any

import torch

from calibration.clock import CallClock
from calibration.models.hybrid import HybridModel
from calibration.plan import GRAPH_TOKENS, Item

_WARM_UPS = 3


class NotCapturableError(RuntimeError):
    """A pass that cannot be a CUDA graph, since it depends on data (such as chosen experts)."""


class GraphTimer:
    """A timer that captures a prefill as a CUDA graph and measures its replay.

    Parameters
    ----------
    model, clock, seed
        See `PassTimer`.
    """

    def __init__(self, model: HybridModel, clock: CallClock, seed: int) -> None:
        self._model, self._clock, self._seed = model, clock, seed
        self._graphs: dict[str, Any] = {}

    def seconds(self, item: Item) -> float:
        """Replay the graph of an item once and return the seconds.

        Raises
        ------
        NotCapturableError
            If the pass cannot be captured.
        """
        if item.name not in self._graphs:
            self._graphs[item.name] = self._capture(item.n)
        return self._clock.seconds(self._graphs[item.name][0].replay)

    def release(self) -> None:
        """Free all CUDA graphs."""
        self._graphs.clear()

    def _capture(self, n: int) -> tuple[Any, ...]:
        """Return the graph of a pass without context, and the objects that must outlive it."""
        cache = self._model.new_cache(GRAPH_TOKENS)
        tokens = self._model.random_tokens(n, seed=self._seed)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                cache.clear()
                self._model.forward(cache, tokens)
        torch.cuda.current_stream().wait_stream(side)
        cache.clear()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                logits = self._model.forward(cache, tokens)
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            reason = str(error).partition("\n")[0]
            raise NotCapturableError(f"no CUDA graph of it can be captured: {reason}") from error
        return graph, cache, tokens, logits
