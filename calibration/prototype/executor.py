"""Runs what a grant plans through the model: restore, prefill up to each cut, capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from calibration.clock import Clock
from calibration.models.hybrid import HybridModel
from calibration.models.states import Snapshot
from calibration.prototype.holdings import Holdings
from calibration.prototype.token_ids import TokenIds
from simulator.cache.request import Grant
from simulator.cache.tree import KvTree
from simulator.trace.trace import Trace

WARM_UP_TOKENS = 130  # more than two chunks of the recurrent layers


@dataclass(frozen=True, slots=True, eq=False)
class Executed:
    """What a request took and left.

    Parameters
    ----------
    seconds
        From the restore to the logits of the last prompt token, captures included.
    logits
        Of the last prompt token, float32, shape (vocabulary,), on the host.
    states
        Captured, by position.
    """

    seconds: float
    logits: Tensor
    states: dict[int, Snapshot]


class Executor:
    """Serves requests through a model, one at a time.

    KV is copied into place before the clock starts, since an engine with paged KV has it there;
    an answer that the trace tells is run after the clock has stopped, since it follows the first
    token.

    Parameters
    ----------
    model, trace, spans
        What is run, for which requests, and the spans of the cache that decides.
    clock
        Takes the times.
    seed
        Of the token ids.
    """

    def __init__(
        self, model: HybridModel, trace: Trace, spans: KvTree, clock: Clock, seed: int
    ) -> None:
        self.holdings = Holdings(spans)
        self._model = model
        self._trace = trace
        self._clock = clock
        self._ids = TokenIds(trace.tree, model.config.vocab_size, seed)
        self._most_tokens = max(most_tokens(trace), WARM_UP_TOKENS)
        self._cache = model.new_cache(self._most_tokens)
        self._warm_up(seed)

    def run(self, grant: Grant) -> Executed:
        """Run an admitted request."""
        end, stop = self._end(grant.request), grant.leaf.stop
        tokens = self._prompt(end)
        self.holdings.load(self._cache, end, grant.resume)
        states: dict[int, Snapshot] = {}
        logits: list[Tensor] = []

        def serve() -> None:
            if grant.checkpoint is not None and grant.resume:
                self._cache.restore(self.holdings.state(grant.checkpoint))
            logits[:] = self._pass(tokens, grant.resume, stop, grant.positions, states)

        if not grant.resume:
            self._cache.clear()
        seconds = self._clock.seconds(serve)
        self._pass(tokens, stop, tokens.shape[1], grant.positions, states)
        return Executed(seconds, _on_host(logits[-1]), states)

    def keep(self, grant: Grant, executed: Executed) -> None:
        """Hold what the cache has stored of a request, and let go of what it has evicted."""
        self.holdings.keep(self._cache, self._end(grant.request), grant.written, executed.states)

    def whole_prefill(self, request: int) -> Tensor:
        """Return the last logits of a prompt, computed in one pass without the cache."""
        self._cache.clear()
        tokens = self._prompt(int(self._trace.leaf[request]))
        return _on_host(self._model.forward(self._cache, tokens))

    def _pass(
        self,
        tokens: Tensor,
        start: int,
        stop: int,
        positions: Sequence[int],
        states: dict[int, Snapshot],
    ) -> list[Tensor]:
        """Run the tokens `(start, stop]`, cut at each position; return the logits of each piece."""
        wanted = [position for position in positions if start < position <= stop]
        logits = []
        for low, high in pairwise(dict.fromkeys([start, *wanted, stop])):
            logits.append(self._model.forward(self._cache, tokens[:, low:high]))
            if high in wanted:
                states[high] = self._cache.snapshot()
        return logits

    def _end(self, request: int) -> int:
        """Return the node with which a prompt and its answer end, if that is known."""
        trace = self._trace
        after = -1 if trace.after is None else int(trace.after[request])
        return after if after >= 0 else int(trace.leaf[request])

    def _prompt(self, node: int) -> Tensor:
        ids = torch.from_numpy(self._ids.prompt(node))
        return ids[None].to(self._model.device)

    def _warm_up(self, seed: int) -> None:
        """Make the buffers, touch them and bind the kernels: all of that is slow only once."""
        tokens = self._model.random_tokens(WARM_UP_TOKENS, seed=seed)
        for _ in range(2):
            self._cache.clear()
            self._model.forward(self._cache, tokens)
            self._cache.restore(self._cache.snapshot())
        for rows in self._cache.kv_rows(0, self._most_tokens):
            rows.zero_()


def most_tokens(trace: Trace) -> int:
    """Return the tokens of the longest prompt, its answer included where it is known."""
    longest = int(trace.prompt_tokens.max())
    if trace.after is None or trace.after.max() < 0:
        return longest
    return max(longest, int(trace.tree.stop[trace.after[trace.after >= 0]].max()))


def _on_host(logits: Tensor) -> Tensor:
    """Return the logits of the last token, shape (vocabulary,)."""
    return logits[0, -1].float().cpu()
