"""An executor that runs a replica's steps on a real model: restore, prefill, capture."""

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

WARM_UP_TOKENS = 130  # more than two chunks of the recurrent layers' scan
SAMPLE_EVERY = 4  # one in this many resumed requests is also computed without the cache


class _Executed(NamedTuple):
    """The time, logits and states of an executed request."""

    seconds: float  # from restoring to the logits of the last prompt token, with captures
    logits: Tensor  # of the last prompt token, float32, shape (vocabulary,), on the host
    states: dict[int, Snapshot]  # stored states of prompt and answer, by position


class ModelExecutor:
    """An executor that runs prompts on a real model and measures them.

    Simulated time still follows the cost model. So decisions are the same as in a simulation, and
    simulated and measured times refer to the same work. KV is copied into place before timing
    starts, since an engine with paged KV has it in place. The answer, if the trace has it, runs
    after timing stops, since it follows the first token.

    Parameters
    ----------
    model, trace, cache
        The model, the requests, and the simulated cache that decides.
    priced
        The simulated executor, which gives simulated durations.
    clock
        Measures times.
    seed
        Seed of the token ids.
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
        self._sample: list[tuple[int, Tensor]] = []  # resumed requests and their last logits
        self._warm_up(seed)

    def seconds(self, step: Step) -> StepSeconds:
        """Run the requests of a step; return its simulated durations."""
        for chunk in step.chunks:
            self._executed[chunk.running.request] = self._run(chunk.running)
        return self._priced.seconds(step)

    def finish(self, running: Running) -> Served:
        """Keep the tensors that the cache has stored of a finished request; return its times."""
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
        """Compare a sample of resumed requests with uninterrupted prefills of their prompts."""
        most = 0.0
        for request, logits in self._sample:
            self._buffer.clear()
            tokens = self._tokens(int(self._trace.leaf[request]))
            whole = _on_host(self._model.forward(self._buffer, tokens))
            most = max(most, float((whole - logits).abs().max()))
        return Sameness(len(self._sample), self._resumed, most)

    def _run(self, running: Running) -> _Executed:
        """Run a request from the position where it resumes to its end; measure its prefill."""
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
        """Run the tokens `(start, stop]`, cut at each position to copy the state there.

        Returns the logits of each piece.
        """
        wanted = [position for position in positions if start < position <= stop]
        logits = []
        for low, high in pairwise(dict.fromkeys([start, *wanted, stop])):
            logits.append(self._model.forward(self._buffer, tokens[:, low:high]))
            if high in wanted:
                states[high] = self._buffer.snapshot()
        return logits

    def _tokens(self, node: int) -> Tensor:
        """Return the token ids of the path to a node, shape (1, tokens)."""
        ids = torch.from_numpy(self._ids.prompt(node))
        return ids[None].to(self._model.device)

    def _warm_up(self, seed: int) -> None:
        """Allocate buffers and load kernels, which is slow only once."""
        tokens = self._model.random_tokens(WARM_UP_TOKENS, seed=seed)
        for _ in range(2):
            self._buffer.clear()
            self._model.forward(self._buffer, tokens)
            self._buffer.restore(self._buffer.snapshot())
        for rows in self._buffer.kv_rows(0, self._most_tokens):
            rows.zero_()


def most_tokens(trace: Trace) -> int:
    """Return the length of the longest prompt in tokens, including its answer if known."""
    return int(trace.tree.stop[_ends(trace)].max())


def _ends(trace: Trace) -> NDArray[np.int32]:
    """Return the prefix-tree nodes at which prompts end, including their answers if known."""
    leaf, after = trace.leaf, trace.after
    return leaf if after is None else np.where(after >= 0, after, leaf)


def _on_host(logits: Tensor) -> Tensor:
    """Return the logits of the last token, shape (vocabulary,)."""
    return logits[0, -1].float().cpu()
