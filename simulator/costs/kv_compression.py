"""Lossy KV: what is left of its bytes, counted exactly. Standard library only.

Two kinds can be counted by a cache that shares prefixes. Where every token keeps a share of its
bytes (fewer bits, or a share of the tokens of each block), KV is as it was, only smaller. Where a
prefix keeps a constant number of tokens, whatever its length, these are chosen for that prefix and
are no part of the KV of a longer one; so they belong to the checkpoint at its end, in a slot of
that size, and no KV is held between checkpoints. Either may fall from the first attention layer to
the last. What may be lost of states is in `state_compression`.

References
----------
Shares: KIVI (arXiv:2402.02750) for bits, H2O (arXiv:2306.14048) for tokens. Constant budgets:
StreamingLLM (arXiv:2309.17453), SnapKV (arXiv:2404.14469); falling by equal steps from layer to
layer: PyramidKV (arXiv:2406.02069).
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
    """What is kept of the KV of every attention layer: one number, or first layer's and last's.

    Parameters
    ----------
    share
        Of the bytes of a token.
    budget_tokens
        Of a prefix, held with each of its checkpoints; None: every token is kept.
    """

    share: tuple[Annotated[float, Within(1e-6, 1.0)], ...] = (1.0,)
    budget_tokens: tuple[Annotated[int, Within(1, MOST_BUDGET_TOKENS)], ...] | None = None

    def described(self) -> str:
        """Return what is kept, in words."""
        parts = []
        if self.share != (1.0,):
            parts.append(f"{_ends([f'{100 * share:g} %' for share in self.share])} of its bytes")
        if self.budget_tokens is not None:
            budget = _ends([f"{tokens:,}" for tokens in self.budget_tokens])
            parts.append(f"{budget} tokens a layer, held with each checkpoint")
        return " and ".join(parts) or "all of it"


def token_bytes(compression: KvCompression, kv_bytes: int, layers: int | None) -> int:
    """Return the bytes kept of a token's KV, of `kv_bytes` in all layers, in whole bytes a layer.

    Raises
    ------
    ValueError
        As `fault` says.
    """
    return sum(_by_layer(compression, kv_bytes, layers))


def slot_bytes(compression: KvCompression, kv_bytes: int, layers: int | None) -> int:
    """Return the bytes of KV that each checkpoint holds; 0 where no budget is set.

    Raises
    ------
    ValueError
        As `fault` says.
    """
    if compression.budget_tokens is None:
        return 0
    kept = _by_layer(compression, kv_bytes, layers)
    budget = _spread([Fraction(tokens) for tokens in compression.budget_tokens], len(kept))
    return sum(
        math.floor(own + Fraction(1, 2)) * size for own, size in zip(budget, kept, strict=True)
    )


def fault(compression: KvCompression, kv_bytes: int, layers: int | None) -> str | None:
    """Return why a model's KV cannot be compressed like this, or None."""
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
    """Return the bytes kept of a token in each layer, or in all as one where none differs."""
    problem = fault(compression, kv_bytes, layers)
    if problem:
        raise ValueError(problem)
    differs = len(compression.share) == 2 or len(compression.budget_tokens or ()) == 2
    count = layers if differs and layers else 1
    # As written in decimal: a tenth of 70 bytes is 7, not a bit more.
    shares = _spread([Fraction(repr(share)) for share in compression.share], count)
    return [math.ceil(share * (kv_bytes // count)) for share in shares]


def _spread(ends: list[Fraction], count: int) -> list[Fraction]:
    """Return `count` values in equal steps from the first to the last of `ends`."""
    first, last = ends[0], ends[-1]
    return [first + (last - first) * Fraction(index, max(count - 1, 1)) for index in range(count)]


def _ends(values: list[str]) -> str:
    """Return one value, or the way from the first layer's to the last's."""
    if len(values) == 1:
        return values[0]
    return f"{values[0]} (first attention layer) to {values[1]} (last)"
