"""Marconi's eviction: recency and FLOPs saved per byte."""

from __future__ import annotations

from typing import Any

from policies.eviction.marconi_tuning import Tuning
from policies.eviction.nodes import NodeEviction
from policies.parameters import require, require_at_least
from simulator.plugins.context import CacheContext
from simulator.plugins.protocols import Overlap


class MarconiEviction(NodeEviction):
    """Evict the node of least recency + alpha x FLOPs saved per byte, each scaled to 0..1.

    A node is a state with the KV between it and the next state above, and a candidate if it has
    at most one child; KV without a state goes first. Recency is 1 / (1 + requests since the state
    was last used); the FLOPs are those between the two states, the bytes those of the node. Both
    are scaled by their least and greatest value among the candidates.

    Parameters
    ----------
    alpha
        Weight of the FLOPs. If not given, it is 0 at first and is tuned once, when `window` times
        as many requests have followed the first eviction as came before it: to that of 0.25, 0.5,
        1 and 2 which would have saved most tokens, if it beats 0 by two standard errors.
    window
        Requests by which alpha is tuned, as a multiple of those before the first eviction.
    attention
        Attention layers of the model whose FLOPs are counted: by default the paper's 7B model,
        whatever the profile.
    ssm
        Its state space layers.
    mlp
        Its MLP layers.
    d_model
        Its width D.
    d_state
        Its state dimension N.

    Source: R. Pan et al., "Marconi: prefix caching for the era of hybrid LLMs", MLSys 2025,
    sections 4.2 and 4.3. There ages are in seconds; requests make the policy work without times.

    Examples
    --------
    With alpha = 0 the least recent prompt leaves; with 2, that of fewest FLOPs per byte:

    >>> from policies.tryout import serve
    >>> prompts = ["aaaaaaaaa", "bb", "ccc", "d"]
    >>> serve(prompts, eviction="marconi:alpha=0", capacity_bytes=22, state_bytes=3).states
    ['bb', 'ccc', 'd']
    >>> serve(prompts, eviction="marconi:alpha=2", capacity_bytes=22, state_bytes=3).states
    ['aaaaaaaaa', 'ccc', 'd']
    """

    def __init__(
        self,
        alpha: float | None = None,
        window: float = 5.0,
        attention: int = 4,
        ssm: int = 24,
        mlp: int = 28,
        d_model: int = 4096,
        d_state: int = 128,
    ) -> None:
        super().__init__()
        if alpha is not None:
            require_at_least("alpha", alpha, 0)
        require_at_least("window", window, 1)
        for name, layers in (("attention", attention), ("ssm", ssm), ("mlp", mlp)):
            require(0 <= layers <= 10_000, name, "0 to 10000", layers)
        for name, width in (("d_model", d_model), ("d_state", d_state)):
            require(1 <= width <= 10**6, name, "1 to 1000000", width)
        self.worth_weight = 0.0 if alpha is None else alpha
        self._tuning = Tuning(window) if alpha is None else None
        self._shape = (attention, ssm, mlp, d_model, d_state)
        linear = ssm * (12 * d_model**2 + 16 * d_model * d_state + 10 * d_model)
        self._linear_flops = linear + attention * 8 * d_model**2 + mlp * 16 * d_model**2
        self._square_flops = attention * 4 * d_model

    def begin(self, context: CacheContext) -> None:
        """Read the sizes; in an unbounded cache there is nothing to tune."""
        super().begin(context)
        if context.capacity_bytes is None:
            self._tuning = None

    def worth(self, start: int, stop: int) -> float:
        """Return the FLOPs saved per byte."""
        tokens = stop - start
        flops = tokens * (self._linear_flops + self._square_flops * (stop + start))
        return flops / max(self._state_bytes + tokens * self._kv_bytes, 1)

    def recency(self, last: Any, now: int) -> Any:
        """Return 1 / (1 + requests since the last use)."""
        return 1.0 / (1.0 + now - last)

    def observe(self, overlap: Overlap) -> None:
        """Count the request, and tune alpha when the window is full."""
        super().observe(overlap)
        tuning = self._tuning
        if tuning is None:
            return
        if self.asked:
            tuning.note_eviction()
        if tuning.ready() and self.context is not None:
            shape = self._shape
            self.worth_weight = tuning.best_alpha(
                self.context, lambda alpha: MarconiEviction(alpha, 1.0, *shape)
            )
            self._tuning = None
        tuning.observe(overlap)
