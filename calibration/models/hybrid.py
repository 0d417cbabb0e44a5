"""A runnable model: the torch module, its cache and its forward pass."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from calibration.models.states import ModelCache


@dataclass(frozen=True, slots=True, eq=False)
class HybridModel:
    """A causal language model of transformers, run without gradients on a `ModelCache`.

    Parameters
    ----------
    module
        A model from `build` or `load`.
    """

    module: torch.nn.Module

    @property
    def config(self) -> Any:
        """The configuration of the text model."""
        return self.module.config.get_text_config()

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.module.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the weights."""
        return next(self.module.parameters()).dtype

    def new_cache(self, most_tokens: int) -> ModelCache:
        """Return an empty cache with room for the KV of `most_tokens` tokens."""
        return ModelCache(self.config, most_tokens)

    def random_tokens(self, tokens: int, *, seed: int, batch: int = 1) -> Tensor:
        """Return seeded token ids, shape (batch, tokens), the same on every device."""
        generator = torch.Generator().manual_seed(seed)
        shape = (batch, tokens)
        return torch.randint(self.config.vocab_size, shape, generator=generator).to(self.device)

    def forward(self, cache: ModelCache, tokens: Tensor, *, every_logit: bool = False) -> Tensor:
        """Run tokens after those in the cache, and add them to it.

        Parameters
        ----------
        cache
            Modified in place.
        tokens
            Token ids, shape (batch, n).
        every_logit
            Return the logits of all tokens, not only of the last.

        Returns
        -------
        Tensor
            Logits, shape (batch, n or 1, vocabulary).

        Notes
        -----
        Position ids are always passed, since some models would otherwise count from zero.
        """
        start, count = cache.tokens, tokens.shape[1]
        positions = torch.arange(start, start + count, device=tokens.device)
        with torch.no_grad():
            output = self.module(
                tokens,
                position_ids=positions.expand(tokens.shape),
                use_cache=True,
                logits_to_keep=0 if every_logit else 1,
                **{cache_name(self.module): cache.cache},
            )
        logits: Tensor = output.logits
        return logits


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a number format, such as "float32"."""
    return str(dtype).rpartition(".")[2]


def cache_name(module: torch.nn.Module) -> str:
    """Return the name of the cache argument in this version of transformers."""
    names = inspect.signature(module.forward).parameters
    return "cache" if "cache" in names else "past_key_values"
