"""Does the work of a replica's steps: restore, prefill up to each cut, capture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from calibration.clock import CallClock
from calibration.models.hybrid import HybridModel
from calibration.models.states import Snapshot
from calibration.prototype.holdings import Holdings
from calibration.prototype.served import Priced, Sameness, Served
from calibration.prototype.token_ids import TokenIds
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Running
from simulator.serving.priced import PricedExecutor
from simulator.serving.step import Step, StepSeconds
from simulator.trace.trace import Trace

WARM_UP_TOKENS = 130  # more than two chunks of the recurrent layers
SAMPLE_EVERY = 4  # of the requests that resume, one in so many is computed whole as well


class _Executed(NamedTuple):
    """The time, logits and states that a request left."""

    seconds: float  # from the restore to the logits of the last prompt token, captures included
    logits: Tensor  # of that token, float32, shape (vocabulary,), on the host
    states: dict[int, Snapshot]  # captured in prompt and answer, by position


class ModelExecutor:
    """Runs whole prompts through a model and takes their times; the simulated clock goes by prices.

    So decisions are made once, and simulated and measured times are of the same work.

    KV is copied into place before the clock starts, since an engine with paged KV has it there;
    an answer that the trace tells is run after the clock has stopped, since it follows the first
    token.

    Parameters
    ----------
    model, trace, cache
        What is run, for which requests, and the cache that decides.
    priced
        Tells what a step takes in the simulation.
    clock
        Takes the times.
    seed
        Of the token ids.
    """

    def __init__(
        self,
        model: HybridModel,
        trace: Trace,
        cache: PolicyCache,
        priced: PricedExecutor,
        clock: CallClock,
        seed: int,
    ) -> None:
        self.holdings = Holdings(cache)
        self._model = model
        self._trace = trace
        self._priced = priced
        self._clock = clock
        self._ends = _ends(trace).tolist()
        self._ids = TokenIds(trace.tree, model.config.vocab_size, seed)
        self._most_tokens = max(most_tokens(trace), WARM_UP_TOKENS)
        self._buffer = model.new_cache(self._most_tokens)
        self._executed: dict[int, _Executed] = {}
        self._resumed = 0
        self._sample: list[tuple[int, Tensor]] = []  # of those that resume: request, last logits
        self._warm_up(seed)

    def seconds(self, step: Step) -> StepSeconds:
        """Run the requests of a step; return what the simulation says that it takes."""
        for chunk in step.chunks:
            self._executed[chunk.running.request] = self._run(chunk.running)
        return self._priced.seconds(step)

    def finish(self, running: Running) -> Served:
        """Hold what the cache has stored of a request that has finished; return what it took."""
        request, matched = running.request, running.match
        seconds, logits, states = self._executed.pop(request)
        self.holdings.keep(self._buffer, self._ends[request], running.written, states)
        self.holdings.check()
        if matched.resume:
            if self._resumed % SAMPLE_EVERY == 0:
                self._sample.append((request, logits))
            self._resumed += 1
        prices = running.restore_seconds, running.prefill_seconds, running.capture_seconds
        return Served(
            request=request,
            arrival_seconds=running.arrival_seconds,
            prompt_tokens=matched.leaf.stop,
            overlap_tokens=matched.overlap,
            saved_tokens=matched.resume,
            positions=tuple(at for at in states if at <= matched.leaf.stop),
            priced=Priced(*prices),
            passes_seconds=(seconds,),
            measured_seconds=seconds,
        )

    def sameness(self) -> Sameness:
        """Compare a sample of the requests that resumed with whole prefills of their prompts."""
        most = 0.0
        for request, logits in self._sample:
            self._buffer.clear()
            tokens = self._tokens(int(self._trace.leaf[request]))
            whole = _on_host(self._model.forward(self._buffer, tokens))
            most = max(most, float((whole - logits).abs().max()))
        return Sameness(len(self._sample), self._resumed, most)

    def _run(self, running: Running) -> _Executed:
        """Run a request from its resume point to its end."""
        matched, captures, node = running.match, running.captures, self._ends[running.request]
        resume, stop, tokens = matched.resume, matched.leaf.stop, self._tokens(node)
        self.holdings.load(self._buffer, node, resume)
        states: dict[int, Snapshot] = {}
        logits: list[Tensor] = []

        def serve() -> None:
            if resume and matched.checkpoint is not None:
                self._buffer.restore(self.holdings.state(matched.checkpoint))
            logits[:] = self._pass(tokens, resume, stop, captures, states)

        if not resume:
            self._buffer.clear()
        seconds = self._clock.seconds(serve)
        self._pass(tokens, stop, tokens.shape[1], captures, states)
        return _Executed(seconds, _on_host(logits[-1]), states)

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
            logits.append(self._model.forward(self._buffer, tokens[:, low:high]))
            if high in wanted:
                states[high] = self._buffer.snapshot()
        return logits

    def _tokens(self, node: int) -> Tensor:
        ids = torch.from_numpy(self._ids.prompt(node))
        return ids[None].to(self._model.device)

    def _warm_up(self, seed: int) -> None:
        """Make the buffers, touch them and bind the kernels: all of that is slow only once."""
        tokens = self._model.random_tokens(WARM_UP_TOKENS, seed=seed)
        for _ in range(2):
            self._buffer.clear()
            self._model.forward(self._buffer, tokens)
            self._buffer.restore(self._buffer.snapshot())
        for rows in self._buffer.kv_rows(0, self._most_tokens):
            rows.zero_()


def most_tokens(trace: Trace) -> int:
    """Return the tokens of the longest prompt, its answer included where it is known."""
    return int(trace.tree.stop[_ends(trace)].max())


def _ends(trace: Trace) -> NDArray[np.int32]:
    """Return the nodes with which prompts end, their answers included where they are known."""
    leaf, after = trace.leaf, trace.after
    return leaf if after is None else np.where(after >= 0, after, leaf)


def _on_host(logits: Tensor) -> Tensor:
    """Return the logits of the last token, shape (vocabulary,)."""
    return logits[0, -1].float().cpu()
