"""Lossy KV compression: exact counts of the remaining bytes.

Two kinds work with a cache that shares prefixes. (1) Every token keeps a share of its bytes (fewer
bits, or some tokens of each block): KV is shared as before, only smaller. (2) Every prefix keeps a
constant number of tokens, chosen for that prefix: its KV is not part of the KV of a longer prefix.
So each checkpoint holds a slot with its own compressed KV, and no KV is stored between checkpoints.
Both may decrease from the first attention layer to the last. For the compression of states see
`state_compression`. This module uses only the standard library.

References
----------
Shares: KIVI (arXiv:2402.02750) for bits, H2O (arXiv:2306.14048) for tokens. Constant budgets:
StreamingLLM (arXiv:2309.17453), SnapKV (arXiv:2404.14469); decreasing linearly over the layers:
PyramidKV (arXiv:2406.02069).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from simulator.base.decode import Within

MOST_BUDGET_TOKENS = 2**30


@dataclass(frozen=True, slots=True)
class KvCompression:
    """The part of KV that is kept, as one number for all attention layers or for first and last.

    With two numbers, the layers between are interpolated linearly.

    Parameters
    ----------
    share
        Kept fraction of each token's bytes.
    budget_tokens
        Tokens kept per prefix, stored with each of its checkpoints; None to keep every token.
    """

    share: tuple[Annotated[float, Within(1e-6, 1.0)], ...] = (1.0,)
    budget_tokens: tuple[Annotated[int, Within(1, MOST_BUDGET_TOKENS)], ...] | None = None

    def described(self) -> str:
        """Describe the part of KV that is kept."""
        parts = []
        if self.share != (1.0,):
            parts.append(f"{_ends([f'{100 * share:g} %' for share in self.share])} of its bytes")
        if self.budget_tokens is not None:
            budget = _ends([f"{tokens:,}" for tokens in self.budget_tokens])
            parts.append(f"{budget} tokens a layer, held with each checkpoint")
        return " and ".join(parts) or "all of it"


def token_bytes(compression: KvCompression, kv_bytes: int, layers: int | None) -> int:
    """Return the bytes that are kept of one token's KV, rounded up per layer.

    Parameters
    ----------
    compression
        The compression.
    kv_bytes
        Uncompressed KV bytes of one token, all layers.
    layers
        Number of attention layers, None if unknown.

    Raises
    ------
    ValueError
        If the compression does not fit the model; see `fault`.
    """
    return sum(_by_layer(compression, kv_bytes, layers))


def slot_bytes(compression: KvCompression, kv_bytes: int, layers: int | None) -> int:
    """Return the KV bytes stored with each checkpoint; 0 without a token budget.

    Parameters
    ----------
    compression
        The compression.
    kv_bytes
        Uncompressed KV bytes of one token, all layers.
    layers
        Number of attention layers, None if unknown.

    Raises
    ------
    ValueError
        If the compression does not fit the model; see `fault`.
    """
    if compression.budget_tokens is None:
        return 0
    kept = _by_layer(compression, kv_bytes, layers)
    budget = _spread([Fraction(tokens) for tokens in compression.budget_tokens], len(kept))
    return sum(
        math.floor(own + Fraction(1, 2)) * size for own, size in zip(budget, kept, strict=True)
    )


def fault(compression: KvCompression, kv_bytes: int, layers: int | None) -> str | None:
    """Return why a model's KV cannot be compressed like this, or None if it can."""
    ends = [compression.share, compression.budget_tokens or (1,)]
    if any(not 1 <= len(values) <= 2 for values in ends):
        return "expected one number, or those of the first and the last attention layer"
    if not kv_bytes:
        return "the model has no KV"
    if max(map(len, ends)) == 1:
        return None
    if not layers or layers < 2:
        return "differs by layer, and model.layer_types tells of fewer than 2 attention layers"
    if kv_bytes % layers:
        return f"differs by layer, and {kv_bytes} bytes are not the same in {layers} layers"
    return None


def _by_layer(compression: KvCompression, kv_bytes: int, layers: int | None) -> list[int]:
    """Return the bytes kept per token in each layer, or one sum if all layers are alike."""
    problem = fault(compression, kv_bytes, layers)
    if problem:
        raise ValueError(problem)
    differs = len(compression.share) == 2 or len(compression.budget_tokens or ()) == 2
    count = layers if differs and layers else 1
    # Exact decimal fractions: a tenth of 70 bytes is 7, not slightly more.
    shares = _spread([Fraction(repr(share)) for share in compression.share], count)
    return [math.ceil(share * (kv_bytes // count)) for share in shares]


def _spread(ends: list[Fraction], count: int) -> list[Fraction]:
    """Return `count` values, interpolated linearly between the first and the last of `ends`."""
    first, last = ends[0], ends[-1]
    return [first + (last - first) * Fraction(index, max(count - 1, 1)) for index in range(count)]


def _ends(values: list[str]) -> str:
    """Describe one value, or those of the first and the last layer."""
    if len(values) == 1:
        return values[0]
    return f"{values[0]} (first attention layer) to {values[1]} (last)"
