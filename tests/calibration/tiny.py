"""Tiny models of every family, in torch, for the tests."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra: calibration)")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

_COMMON = {"vocab_size": 128, "hidden_size": 64, "num_attention_heads": 4}
_GROUPED = _COMMON | {"num_key_value_heads": 2, "head_dim": 16}
_DELTA = {
    "num_hidden_layers": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
_EXPERTS = {
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "num_experts": 4,
    "num_experts_per_tok": 2,
}

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3.5": ("Qwen3_5TextConfig", _GROUPED | _DELTA | {"intermediate_size": 96}),
    "qwen3.5-moe": ("Qwen3_5MoeTextConfig", _GROUPED | _DELTA | _EXPERTS),
    "qwen3-next": ("Qwen3NextConfig", _GROUPED | _DELTA | _EXPERTS),
    "nemotron-h": (
        "NemotronHConfig",
        _GROUPED
        | {
            "intermediate_size": 96,
            "layers_block_type": ["mamba", "mlp", "attention", "mamba"],
            "ssm_state_size": 16,
            "mamba_num_heads": 4,
            "mamba_head_dim": 16,
            "n_groups": 2,
            "chunk_size": 16,
        },
    ),
    "falcon-h1": (
        "FalconH1Config",
        _GROUPED
        | {
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "mamba_d_ssm": 64,
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_d_state": 16,
            "mamba_chunk_size": 16,
            "mamba_n_groups": 1,
        },
    ),
    "kimi-linear": (
        "KimiLinearConfig",
        _COMMON
        | _EXPERTS
        | {
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "intermediate_size": 96,
            "num_hidden_layers": 4,
            "num_key_value_heads": 4,
            "kv_lora_rank": 16,
            "layer_types": ["linear_attention"] * 3 + ["full_attention"],
            "qk_rope_head_dim": 8,
            "v_head_dim": 16,
            "qk_nope_head_dim": 16,
            "num_local_experts": 4,
            "linear_head_dim": 16,
            "linear_num_heads": 4,
        },
    ),
    "bamba": (
        "BambaConfig",
        _COMMON
        | {
            "intermediate_size": 96,
            "num_hidden_layers": 4,
            "attn_layer_indices": [1],
            "num_key_value_heads": 2,
            "mamba_n_heads": 8,
            "mamba_d_head": 16,
            "mamba_d_state": 16,
            "mamba_chunk_size": 16,
        },
    ),
    "jamba": (
        "JambaConfig",
        _COMMON
        | {
            "intermediate_size": 96,
            "num_hidden_layers": 4,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "num_key_value_heads": 2,
            "num_experts": 2,
            "mamba_d_state": 8,
        },
    ),
}


def tiny_config(family: str) -> Any:
    """Return the configuration of a tiny model; skip where transformers lacks its family."""
    name, fields = FAMILIES[family]
    if not hasattr(transformers, name):
        pytest.skip(f"this transformers has no {name}")
    return getattr(transformers, name)(**fields)


def tiny_model(family: str, dtype: Any = torch.float32) -> Any:
    """Return a tiny model with random weights and a long memory."""
    from calibration.models.build import build
    from calibration.models.hybrid import HybridModel

    torch.set_num_threads(1)
    return HybridModel(build(tiny_config(family), dtype=dtype))
