"""Sizes from a model's `config.json`: the families spell them differently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration.model_config import config_geometry
from simulator.base.errors import DataError
from simulator.costs.geometry import MODELS

QWEN = {
    "text_config": {
        "hidden_size": 4096,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "dtype": "bfloat16",
        "mamba_ssm_dtype": "float32",
    }
}
NEMOTRON = {
    "hidden_size": 2688,
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "hybrid_override_pattern": "ME" * 23 + "*" * 6,
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "n_groups": 8,
    "conv_kernel": 4,
}
GRANITE = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "layer_types": ["mamba"] * 36 + ["attention"] * 4,
    "mamba_n_heads": 128,
    "mamba_d_head": "auto",
    "mamba_d_state": 128,
    "mamba_n_groups": 1,
    "mamba_expand": 2,
    "mamba_d_conv": 4,
}
JAMBA = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "attn_layer_period": 8,
    "attn_layer_offset": 4,
    "mamba_d_state": 16,
    "mamba_expand": 2,
    "mamba_d_conv": 4,
}
FALCON = {
    "model_type": "falcon_h1",
    "hidden_size": 3072,
    "num_hidden_layers": 44,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "mamba_n_heads": 24,
    "mamba_d_ssm": 3072,
    "mamba_d_state": 256,
    "mamba_n_groups": 1,
}
KIMI = {
    "hidden_size": 2304,
    "num_attention_heads": 32,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "linear_attn_config": {
        "kda_layers": list(range(20)),
        "full_attn_layers": list(range(7)),
        "num_heads": 32,
        "head_dim": 128,
        "short_conv_kernel_size": 4,
    },
}


def written(folder: Path, config: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("qwen3.5-9b", QWEN),
        ("nemotron-3-nano-30b-a3b", NEMOTRON),
        ("granite-4.0-h-small", GRANITE),
        ("jamba-v0.1", JAMBA),
        ("falcon-h1-7b", FALCON),
        ("kimi-linear-48b", KIMI),
    ],
)
def test_a_configuration_gives_the_sizes_of_the_named_model(
    model: str, config: dict[str, Any], tmp_path: Path
) -> None:
    read = [config_geometry(written(tmp_path, config)), config_geometry(tmp_path)]
    named = MODELS[model]
    for geometry in read:
        assert geometry.state_bytes == named.state_bytes
        assert geometry.kv_bytes_per_token == named.kv_bytes_per_token


def test_a_layer_in_every_four_where_only_the_rule_is_told(tmp_path: Path) -> None:
    config = {**QWEN["text_config"], "num_hidden_layers": 32, "full_attention_interval": 4}
    del config["layer_types"]
    geometry = config_geometry(written(tmp_path, config))
    assert (geometry.recurrent.layers, geometry.attention.layers) == (24, 8)


def test_number_formats_are_read(tmp_path: Path) -> None:
    config = NEMOTRON | {"mamba_ssm_cache_dtype": "bfloat16", "torch_dtype": "float32"}
    geometry = config_geometry(written(tmp_path, config))
    assert geometry.recurrent.ssm_dtype_bytes == 2
    assert geometry.attention.dtype_bytes == 4


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ([], "expected an object"),
        ({**GRANITE, "layer_types": ["attention"] * 4}, "recurrent layers, found none"),
        ({**GRANITE, "layer_types": ["mamba", "sliding_attention"]}, "found 'sliding_attention'"),
        ({**GRANITE, "layer_types": 7}, "field 'layer_types': expected the kinds of layers"),
        ({**GRANITE, "mamba_d_state": -1}, "field 'mamba_d_state': expected a whole number"),
        ({**GRANITE, "dtype": "float3"}, "field 'dtype': expected one of float32"),
        ({"num_hidden_layers": 4}, "field 'full_attention_interval': expected this field"),
    ],
)
def test_a_configuration_that_tells_no_sizes(config: object, problem: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=problem):
        config_geometry(written(tmp_path, config))
