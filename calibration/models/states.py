"""The cache of a model in torch: a KV buffer with a cursor, and recurrent states to copy.

A state cannot be rolled back, but it can be copied: `snapshot` clones what the recurrent layers
hold, `restore` copies it back and moves the cursor of the KV, whose rows beyond it stay in place.
So a state is resumed under a denser KV without moving a token, and a prefill after a long context
does not pay for concatenating it.
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
    """The recurrent states after `tokens` tokens: what a checkpoint stores."""

    tokens: int
    tensors: tuple[Tensor, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(map(_bytes, self.tensors))


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """What one sequence keeps, read off the tensors.

    Parameters
    ----------
    ssm_bytes
        State matrices of all layers.
    conv_bytes
        Convolution inputs of all layers: those that the next token needs, one fewer than the
        kernel is wide.
    held_bytes
        All that transformers holds, which keeps one more input than is needed.
    kv_bytes_per_token
        Keys and values of one token, all layers.
    recurrent_layers, attention_layers
        Layers that keep either.
    ssm_dtype, conv_dtype, kv_dtype
        Their precision, as in "float32".
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
    """The cache of one sequence (or of a batch of equal lengths) for one model.

    Parameters
    ----------
    config
        The model's configuration.
    most_tokens
        Room of the KV buffers.
    """

    def __init__(self, config: Any, most_tokens: int) -> None:
        self.cache = DynamicCache(config=config)
        self.cache.layers = [_with_cursor(layer, most_tokens) for layer in self.cache.layers]
        self._attention = [layer for layer in self.cache.layers if isinstance(layer, _Cursor)]

    @property
    def tokens(self) -> int:
        """Tokens that the cache holds, up to the cursor."""
        return self._attention[0].cursor if self._attention else 0

    def snapshot(self) -> Snapshot:
        """Clone the recurrent states."""
        return Snapshot(self.tokens, tuple(tensor.clone() for tensor in self._recurrent()))

    def restore(self, snapshot: Snapshot) -> None:
        """Copy recurrent states back and move the cursor to them; KV beyond it stays."""
        for tensor, saved in zip(self._recurrent(), snapshot.tensors, strict=True):
            tensor.copy_(saved)
        self.move_cursor(snapshot.tokens)

    def move_cursor(self, tokens: int) -> None:
        """Move the cursor of the KV alone: the states stay as they are, right or wrong."""
        for layer in self._attention:
            layer.cursor = tokens

    def clear(self) -> None:
        """Forget everything, and keep the buffers of the KV."""
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
        """Return what a sequence keeps; the cache must have seen a token, and batch 1."""
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
        return [tensor for name in _HELD for tensor in self._held(name)]

    def _held(self, name: str) -> list[Tensor]:
        held = (getattr(layer, name, None) for layer in self.cache.layers)
        return [tensor for value in held for tensor in _tensors(value)]


class _Cursor:
    """Keeps keys and values in a buffer and returns what lies before the cursor.

    Mixed into the cache layers of transformers that hold KV.
    """

    most_tokens: int
    cursor: int = 0
    key_buffer: Tensor | None = None
    value_buffer: Tensor | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Write rows behind the cursor, move it, and return all rows before it."""
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
        """Return the tokens before the cursor."""
        return self.cursor

    def get_mask_sizes(self, query: int | Tensor) -> tuple[int, int]:
        """Return the length of the keys that a query sees, and their offset."""
        length = query.shape[0] if isinstance(query, Tensor) else query
        return self.cursor + length, 0

    def _buffer(self, states: Tensor) -> Tensor:
        shape = (*states.shape[:-2], self.most_tokens, states.shape[-1])
        return torch.zeros(shape, dtype=states.dtype, device=states.device)


def _with_cursor(layer: Any, most_tokens: int) -> Any:
    """Return a layer of the same kind with a cursor, or the layer itself if it holds no KV."""
    if not isinstance(layer, DynamicLayer):
        return layer
    kind = type(layer)
    made = type(f"Cursor{kind.__name__}", (_Cursor, kind), {})()
    made.most_tokens = most_tokens
    return made


def _bytes(tensor: Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _dtype(tensors: Sequence[Tensor]) -> str:
    """Return the precision of the first tensor, as in "float32"."""
    return str(tensors[0].dtype).rpartition(".")[2] if tensors else "none"


def _tensors(held: Any) -> list[Tensor]:
    """Return what a layer holds under one name, one tensor or several by version."""
    if isinstance(held, Tensor):
        return [held]
    values = held.values() if isinstance(held, dict) else held or ()
    return [tensor for tensor in values if isinstance(tensor, Tensor)]


def _forget_states(layer: Any) -> None:
    """Make a recurrent layer take the next tokens for the first ones."""
    held = getattr(layer, "has_previous_state", None)
    if isinstance(held, bool):
        layer.has_previous_state = False
    elif held is not None:
        for key in held if isinstance(held, dict) else range(len(held)):
            held[key] = False
