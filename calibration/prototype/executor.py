"""Does the work of a replica's steps: restore, prefill up to each cut, capture."""

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
from calibration.prototype.served import Priced, Sameness, Served
from calibration.prototype.token_ids import TokenIds
from simulator.cache.policy_cache import PolicyCache
from simulator.cache.request import Running
from simulator.serving.interfaces import Step, StepSeconds
from simulator.serving.priced import PricedExecutor
from simulator.trace.trace import Trace

WARM_UP_TOKENS = 130  # more than two chunks of the recurrent layers
SAMPLE_EVERY = 4  # of the requests that resume, one in so many is computed whole as well


@dataclass(frozen=True, slots=True, eq=False)
class _Executed:
    """What a request took and left.

    Parameters
    ----------
    seconds
        From the restore to the logits of the last prompt token, captures included.
    positions
        Where states were captured, within the prompt.
    logits
        Of the last prompt token, float32, shape (vocabulary,), on the host.
    states
        Captured, by position; those behind the prompt too.
    """

    seconds: float
    positions: tuple[int, ...]
    logits: Tensor
    states: dict[int, Snapshot]


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
        clock: Clock,
        seed: int,
    ) -> None:
        self.holdings = Holdings(cache)
        self._model = model
        self._trace = trace
        self._priced = priced
        self._clock = clock
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
        executed = self._executed.pop(running.request)
        self.holdings.keep(
            self._buffer, self._end(running.request), running.written, executed.states
        )
        self.holdings.check()
        matched = running.match
        if matched.resume:
            if self._resumed % SAMPLE_EVERY == 0:
                self._sample.append((running.request, executed.logits))
            self._resumed += 1
        return Served(
            request=running.request,
            arrival_seconds=running.arrival_seconds,
            prompt_tokens=matched.leaf.stop,
            overlap_tokens=matched.overlap,
            saved_tokens=matched.resume,
            positions=executed.positions,
            priced=Priced(
                running.restore_seconds, running.prefill_seconds, running.capture_seconds
            ),
            passes_seconds=(executed.seconds,),
            measured_seconds=executed.seconds,
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
        matched, captures = running.match, running.captures
        resume, stop, node = matched.resume, matched.leaf.stop, self._end(running.request)
        tokens = self._tokens(node)
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
        positions = tuple(states)
        self._pass(tokens, stop, tokens.shape[1], captures, states)
        return _Executed(seconds, positions, _on_host(logits[-1]), states)

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

    def _end(self, request: int) -> int:
        """Return the node with which a prompt and its answer end, if that is known."""
        trace = self._trace
        after = -1 if trace.after is None else int(trace.after[request])
        return after if after >= 0 else int(trace.leaf[request])

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
    longest = int(trace.prompt_tokens.max())
    if trace.after is None or trace.after.max() < 0:
        return longest
    return max(longest, int(trace.tree.stop[trace.after[trace.after >= 0]].max()))


def _on_host(logits: Tensor) -> Tensor:
    """Return the logits of the last token, shape (vocabulary,)."""
    return logits[0, -1].float().cpu()
