"""The cache of a model in torch: KV buffers with a cursor, and recurrent states that can be copied.

A recurrent state cannot be rolled back but can be copied: `snapshot` clones the states, `restore`
copies them back and moves the KV cursor to their position, leaving KV after it in place. So a state
can be resumed without copying KV, and a prefill after a long context does not concatenate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

_HELD = ("conv_states", "recurrent_states")


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A copy of the recurrent states after `tokens` tokens: the content of a checkpoint."""

    tokens: int
    tensors: tuple[Tensor, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(map(_bytes, self.tensors))


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """Sizes of the cache of one sequence, from its tensors.

    Parameters
    ----------
    ssm_bytes
        State matrices of all layers.
    conv_bytes
        Convolution inputs of all layers that the next token needs: one fewer than the kernel width.
    held_bytes
        Everything that transformers stores, which includes one unneeded convolution input.
    kv_bytes_per_token
        Keys and values of one token, all layers.
    recurrent_layers, attention_layers
        Number of layers of each kind.
    ssm_dtype, conv_dtype, kv_dtype
        Number formats, such as "float32".
    """

    ssm_bytes: int
    conv_bytes: int
    held_bytes: int
    kv_bytes_per_token: int
    recurrent_layers: int
    attention_layers: int
    ssm_dtype: str
    conv_dtype: str
    kv_dtype: str


class ModelCache:
    """The cache of one sequence, or of a batch of sequences of equal length.

    Parameters
    ----------
    config
        The model's configuration.
    most_tokens
        Size of the KV buffers in tokens.
    """

    def __init__(self, config: Any, most_tokens: int) -> None:
        self.cache = DynamicCache(config=config)
        self.cache.layers = [_with_cursor(layer, most_tokens) for layer in self.cache.layers]
        self._attention = [layer for layer in self.cache.layers if isinstance(layer, _Cursor)]

    @property
    def tokens(self) -> int:
        """Number of tokens in the cache, which is the position of the KV cursor."""
        return self._attention[0].cursor if self._attention else 0

    def snapshot(self) -> Snapshot:
        """Clone the recurrent states."""
        return Snapshot(self.tokens, tuple(tensor.clone() for tensor in self._recurrent()))

    def restore(self, snapshot: Snapshot) -> None:
        """Copy recurrent states back and move the cursor to their position; KV after it stays."""
        for tensor, saved in zip(self._recurrent(), snapshot.tensors, strict=True):
            tensor.copy_(saved)
        self.move_cursor(snapshot.tokens)

    def move_cursor(self, tokens: int) -> None:
        """Move the KV cursor only; the states are unchanged, even if they do not match it."""
        for layer in self._attention:
            layer.cursor = tokens

    def clear(self) -> None:
        """Reset the cache to no tokens but keep the KV buffers."""
        for layer in self.cache.layers:
            for name in _HELD:
                for tensor in _tensors(getattr(layer, name, None)):
                    tensor.zero_()
            _forget_states(layer)
        self.move_cursor(0)

    def kv_rows(self, start: int, stop: int) -> tuple[Tensor, ...]:
        """Return views of the keys and values of tokens `(start, stop]`, layer by layer."""
        return tuple(
            buffer[..., start:stop, :]
            for layer in self._attention
            for buffer in (layer.key_buffer, layer.value_buffer)
            if buffer is not None
        )

    def sizes(self) -> CacheSizes:
        """Return the bytes that one sequence needs; requires a token in it and batch size 1."""
        conv, ssm = (self._held(name) for name in _HELD)
        rows = self.kv_rows(0, 1)
        return CacheSizes(
            ssm_bytes=sum(map(_bytes, ssm)),
            conv_bytes=sum(_bytes(tensor[..., 1:]) for tensor in conv),
            held_bytes=sum(map(_bytes, [*ssm, *conv])),
            kv_bytes_per_token=sum(map(_bytes, rows)),
            recurrent_layers=len(ssm),
            attention_layers=len(rows) // 2,
            ssm_dtype=_dtype(ssm),
            conv_dtype=_dtype(conv),
            kv_dtype=_dtype(rows),
        )

    def _recurrent(self) -> list[Tensor]:
        """Return the recurrent state tensors of all layers."""
        return [tensor for name in _HELD for tensor in self._held(name)]

    def _held(self, name: str) -> list[Tensor]:
        """Return the tensors that layers store under an attribute name."""
        held = (getattr(layer, name, None) for layer in self.cache.layers)
        return [tensor for value in held for tensor in _tensors(value)]


class _Cursor:
    """A mixin for KV layers of transformers that stores KV in a buffer with a cursor."""

    most_tokens: int
    cursor: int = 0
    key_buffer: Tensor | None = None
    value_buffer: Tensor | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Write KV at the cursor, advance it, and return all KV before it."""
        if self.key_buffer is None or self.value_buffer is None:
            self.key_buffer = self._buffer(key_states)
            self.value_buffer = self._buffer(value_states)
            self.is_initialized = True
        end = self.cursor + key_states.shape[-2]
        self.key_buffer[..., self.cursor : end, :] = key_states
        self.value_buffer[..., self.cursor : end, :] = value_states
        self.cursor = end
        return self.key_buffer[..., :end, :], self.value_buffer[..., :end, :]

    def get_seq_length(self, *_: Any) -> int:
        """Return the number of tokens before the cursor (called by transformers)."""
        return self.cursor

    def get_mask_sizes(self, query: int | Tensor) -> tuple[int, int]:
        """Return the number of keys a query sees, and their offset (called by transformers)."""
        length = query.shape[0] if isinstance(query, Tensor) else query
        return self.cursor + length, 0

    def _buffer(self, states: Tensor) -> Tensor:
        """Return an empty buffer for `most_tokens` tokens."""
        shape = (*states.shape[:-2], self.most_tokens, states.shape[-1])
        return torch.zeros(shape, dtype=states.dtype, device=states.device)


def _with_cursor(layer: Any, most_tokens: int) -> Any:
    """Return a KV layer of the same class with a cursor; other layers are returned unchanged."""
    if not isinstance(layer, DynamicLayer):
        return layer
    kind = type(layer)
    made = type(f"Cursor{kind.__name__}", (_Cursor, kind), {})()
    made.most_tokens = most_tokens
    return made


def _bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor."""
    return int(tensor.numel() * tensor.element_size())


def _dtype(tensors: Sequence[Tensor]) -> str:
    """Return the number format of the first tensor, such as "float32"."""
    return str(tensors[0].dtype).rpartition(".")[2] if tensors else "none"


def _tensors(held: Any) -> list[Tensor]:
    """Return the state tensors of a layer's attribute, in any supported version of transformers."""
    if isinstance(held, Tensor):
        return [held]
    values = held.values() if isinstance(held, dict) else held or ()
    return [tensor for tensor in values if isinstance(tensor, Tensor)]


def _forget_states(layer: Any) -> None:
    """Make a recurrent layer treat the next tokens as the first ones."""
    held = getattr(layer, "has_previous_state", None)
    if isinstance(held, bool):
        layer.has_previous_state = False
    elif held is not None:
        for key in held if isinstance(held, dict) else range(len(held)):
            held[key] = False
