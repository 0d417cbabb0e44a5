"""Attention of new tokens to a longer context, without a mask in memory.

transformers passes a mask to torch whenever there is a context, and then repeats the keys for every
group of heads, since flash kernels take no mask. Serving engines need no mask, and with one, pairs
with context tokens would appear several times more expensive than others. This module uses the
built-in lower-right causal bias of torch instead.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import causal_mask_function, sdpa_mask

NAME = "milepost_lower_right"
_QUERIES, _KEYS, _DIM = 33, 97, 256  # sizes of the check, not multiples of a kernel's tile
_CLOSE = {torch.float32: 1e-3, torch.bfloat16: 0.05, torch.float16: 0.02}


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Return the attention output, shape (batch, tokens, heads, dim); with a mask, use torch's."""
    queries, keys = query.shape[2], key.shape[2]
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    # In float32, torch has no fused kernel for grouped heads, with or without a context.
    ours = 1 < queries <= keys and (queries < keys or query.dtype == torch.float32)
    if attention_mask is not None or not causal or not ours:
        given = {"scaling": scaling, "is_causal": is_causal, **options}
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **given)
        return output, None
    return behind_context(query, key, value, scaling).transpose(1, 2).contiguous(), None


def behind_context(query: Tensor, key: Tensor, value: Tensor, scaling: float | None) -> Tensor:
    """Return the attention of the last tokens to all, shape (batch, heads, tokens, dim)."""
    groups = query.shape[1] // key.shape[1]
    if query.dtype == torch.float32:  # its only fused kernel does not support grouped heads
        key, value, groups = repeat_kv(key, groups), repeat_kv(value, groups), 1
    return scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=causal_lower_right(query.shape[2], key.shape[2]),
        scale=scaling,
        enable_gqa=groups > 1,
    )


def mask(
    *sizes: Any,
    mask_function: Any = causal_mask_function,
    attention_mask: Tensor | None = None,
    **options: Any,
) -> Tensor | None:
    """Return None if plain causal order is the only constraint, otherwise the mask of torch."""
    if mask_function is causal_mask_function and attention_mask is None:
        return None
    return sdpa_mask(*sizes, mask_function=mask_function, attention_mask=attention_mask, **options)


def use_where_it_works(module: Any, device: str) -> None:
    """Make a model on a GPU attend without a mask, if a check shows that this is correct."""
    dtype = next(module.parameters()).dtype
    if not device.startswith("cuda") or not works(device, dtype):
        return
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, mask)
    module.set_attn_implementation(NAME)


def without_mask(config: Any) -> bool:
    """Tell whether a model with this configuration attends without a mask."""
    return bool(getattr(config, "_attn_implementation", None) == NAME)


def works(device: str, dtype: torch.dtype) -> bool:
    """Tell whether attention without a mask equals attention with one on this device."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((1, 4, _QUERIES, _DIM), (1, 2, _KEYS, _DIM), (1, 2, _KEYS, _DIM))
    query, key, value = (
        torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes
    )
    seen = torch.ones(_QUERIES, _KEYS, dtype=torch.bool, device=device).tril(_KEYS - _QUERIES)
    try:
        unmasked = behind_context(query, key, value, None)
        masked = scaled_dot_product_attention(
            query.float(), repeat_kv(key, 2).float(), repeat_kv(value, 2).float(), attn_mask=seen
        )
    except (RuntimeError, ValueError, TypeError):
        return False
    return bool(((unmasked.float() - masked).abs().max() <= _CLOSE[dtype]).item())
