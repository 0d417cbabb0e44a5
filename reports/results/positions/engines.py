"""Positions at which serving engines would store states, and the setting nearest to a run.

For each request, a setting is asked which states it would store if the request resumed where it
did in the run. Two positions count as alike if they lie in the same stretch of tokens; a stretch
has the length of the coarsest of the setting's block, the run's grid, and 64 tokens. The nearness
of a setting is the Dice coefficient of both sets of states: twice the number in common over the sum
of both numbers, 1 for equal sets and 0 for disjoint ones. The scheduling, concurrency and eviction
of the engines are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from reports.results.positions.patterns import Pattern, agreement, keys, multiples, sampled
from reports.results.positions.stored import FinishedRequests, Stored, Whole
from simulator.costs.profile import Profile

ALIKE_TOKENS = 64
NEAR = 2 / 3  # below that no setting is called near
PERIODS = (512, 1024, 2048, 4096, 8192, 16384, 32768)
CHUNKS = (2048, 8192)

Placed = tuple[Whole, Whole]  # rows of requests, and positions
Places = Callable[[FinishedRequests], Placed]


@dataclass(frozen=True, slots=True)
class EngineSetting:
    """A setting of an engine: how it is called, its block, and where it stores states."""

    name: str
    block_tokens: int
    placed: Places


@dataclass(frozen=True, slots=True)
class Nearest:
    """The setting that is nearest to a policy."""

    setting: str
    agreement: float  # the coefficient of Dice
    shared: float  # of the policy's states, the share that the setting gives too
    more: float  # states a request that the setting gives and the policy does not
    within_tokens: int  # how far apart positions may be that count as alike

    def words(self) -> str:
        """Return a sentence on the nearest engine setting, and how it differs from the policy."""
        near = self.agreement >= NEAR
        start = "nearest of the engine settings compared" if near else "no engine setting is near"
        much = f"{100 * self.shared:.0f} % of these positions"
        more = f", and {self.more:.2f} more a request" if self.more >= 0.005 else ""
        share = f"{self.setting} would give {much} (to within {self.within_tokens:,} tokens){more}"
        return f"{start}: {share}" if near else f"{start}; of those compared {share}"


def nearest_setting(stored: Stored, profile: Profile, pattern: Pattern | None) -> Nearest | None:
    """Return the setting with the greatest agreement, the most exact of equals.

    None where no state was stored.
    """
    if not len(stored):
        return None
    some = sampled(stored)
    compared = [_nearness(each, some) for each in settings(block_tokens(profile), pattern)]
    return max(compared, key=_merit) if len(some) else None


def _merit(nearest: Nearest) -> tuple[float, int]:
    return nearest.agreement, -nearest.within_tokens


def block_tokens(profile: Profile) -> int:
    """Return the tokens of a vLLM block: KV of one attention layer as large as a layer's state.

    Where the profile does not tell its layers, three recurrent ones to one of attention.
    """
    layers = profile.model.layer_types or {}
    recurrent, attention = layers.get("recurrent") or 3, layers.get("attention") or 1
    kv_bytes = 16 * profile.kv_bytes_per_token / attention
    return 16 * max(-(-profile.state_bytes // max(round(recurrent * kv_bytes), 1)), 1)


def settings(block: int, pattern: Pattern | None) -> Iterator[EngineSetting]:
    """Yield the settings that are compared, for a model whose vLLM block is `block` tokens."""
    regular = pattern is not None and pattern.kind in ("every", "computed")
    periods = sorted({*PERIODS, *(pattern.tokens[:1] if pattern and regular else ())})
    align = f"vLLM with `--mamba-cache-mode align`, blocks of {block:,} tokens"
    yield EngineSetting(f"{align}, retention 0 (its default)", block, _vllm(block))
    for every in periods:
        yield EngineSetting(f"{align}, retention {every:,}", block, _vllm(block, _every(every)))
    for chunk in CHUNKS:
        name = f"{align}, retention off, a budget of {chunk:,} tokens"
        yield EngineSetting(name, block, _vllm(block, _chunks(chunk)))
    name = f"vLLM up to 0.31 with `--mamba-cache-mode all`, blocks of {block:,} tokens"
    yield EngineSetting(name, block, _every(block))
    for chunk in CHUNKS:
        flag = f"`--chunked-prefill-size {chunk}`"
        yield EngineSetting(f"SGLang with `no_buffer` and {flag}", 1, _no_buffer(chunk))
        yield EngineSetting(f"SGLang with `extra_buffer` and {flag}", 64, _extra_buffer(chunk))
    ends = _all_of(_before(4), _before(516))
    yield EngineSetting("llama.cpp's server (4 and 516 tokens before the end)", 1, ends)
    ends = _all_of(_every(512), _before(5))
    yield EngineSetting("ik_llama.cpp (every 512 tokens, and 5 before the end)", 1, ends)
    for every in periods:
        yield EngineSetting(f"TensorRT-LLM with an interval of {every:,} tokens", 1, _every(every))
    end = "TensorRT-LLM with an offset of 0 tokens from the end"
    yield EngineSetting(end, 1, _before(0))
    yield EngineSetting(f"{end} and branch snapshots", 1, _all_of(_before(0), _at_branch()))
    if pattern is not None and pattern.kind in ("before_end", "from_start"):
        point, at = ("end", _before) if pattern.kind == "before_end" else ("start", _after_start)
        listed = " and ".join(f"{n:,}" for n in pattern.tokens)
        name = f"TensorRT-LLM with offsets of {listed} tokens from the {point}"
        yield EngineSetting(name, 1, _all_of(*map(at, pattern.tokens)))


def _nearness(setting: EngineSetting, stored: Stored) -> Nearest:
    requests = stored.requests
    row, position = setting.placed(requests)
    new = (position > requests.resume[row]) & (position <= requests.end[row])
    width = max(setting.block_tokens, stored.grid.step, ALIKE_TOKENS)
    theirs = keys(row[new], position[new], width)
    mine = keys(stored.row, stored.position, width)
    near, common = agreement(mine, len(stored), theirs)
    more = (len(theirs) - common) / len(requests)
    return Nearest(setting.name, near, common / len(stored), more, width)


def _at(position: Callable[[FinishedRequests], Whole]) -> Places:
    """Store one state a request."""
    return lambda requests: (np.arange(len(requests)), position(requests))


def _before(tokens: int) -> Places:
    return _at(lambda requests: requests.prompt - tokens)


def _after_start(tokens: int) -> Places:
    return _at(lambda requests: np.full(len(requests), tokens))


def _at_branch() -> Places:
    """Store where the KV of the prompt ended."""
    return _at(lambda requests: requests.kv)


def _in_answer(position: Callable[[Whole], Whole]) -> Places:
    """Store one state an answer, at a position that its end tells."""

    def placed(requests: FinishedRequests) -> Placed:
        row = np.flatnonzero(requests.end > requests.prompt)
        return row, position(requests.end[row])

    return placed


def _every(tokens: int) -> Places:
    return lambda requests: multiples(
        requests, tokens, np.zeros_like(requests.resume), requests.prompt
    )


def _chunks(tokens: int) -> Places:
    """Store at the ends of chunks that are computed."""
    return lambda requests: multiples(requests, tokens, requests.resume, requests.prompt)


def _all_of(*several: Places) -> Places:
    def placed(requests: FinishedRequests) -> Placed:
        rows, positions = zip(*(each(requests) for each in several), strict=True)
        return np.concatenate(rows), np.concatenate(positions)

    return placed


def _vllm(block: int, *more: Places) -> Places:
    """Store the last block before the last token, junctions, and more: each floored to a block."""

    def placed(requests: FinishedRequests) -> Placed:
        row, position = _all_of(_before(1), _at_branch(), *more)(requests)
        return row, position // block * block

    return placed


def _no_buffer(chunk: int) -> Places:
    """Store at chunk ends, at the end of the prompt, and a token before that of the answer."""
    return _all_of(_chunks(chunk), _before(0), _in_answer(lambda end: end - 1))


def _extra_buffer(chunk: int) -> Places:
    """Store one state a chunk: where KV matched inside it, else the last multiple of 64."""

    def placed(requests: FinishedRequests) -> Placed:
        row, end = multiples(requests, chunk, requests.resume, requests.prompt + chunk - 1)
        start = end - chunk
        length = np.minimum(end, requests.prompt[row]) - start
        tracked = start + length // 64 * 64
        branch = requests.kv[row] // 64 * 64
        inside = (branch > start) & (branch < start + length) & ((branch - start) % 64 == 0)
        return row, np.where(inside, branch, tracked)

    return _all_of(placed, _in_answer(lambda end: end // 256 * 256))
