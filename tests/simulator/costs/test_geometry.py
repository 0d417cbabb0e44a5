from __future__ import annotations

from dataclasses import replace
from math import ceil, floor

import pytest

from simulator.base.errors import UsageError
from simulator.costs.geometry import MODELS, find_model

MIB = 2**20

# Qwen3.5 and Qwen3-Next: state MiB, KV KiB per token, linear GFLOP per token, pair kFLOP.
TABLE = {
    "qwen3.5-0.8b": (18.63, 12, 1.04, 49.2),
    "qwen3.5-2b": (18.63, 12, 2.79, 49.2),
    "qwen3.5-4b": (49.12, 32, 7.26, 131.1),
    "qwen3.5-9b": (49.12, 32, 13.96, 131.1),
    "qwen3.5-27b": (146.81, 64, 49.08, 393.2),
    "qwen3.5-35b-a3b": (61.41, 20, 5.03, 163.8),
    "qwen3.5-122b-a10b": (146.53, 24, 16.86, 393.2),
    "qwen3.5-397b-a17b": (183.16, 30, 31.10, 491.5),
    "qwen3-next-80b-a3b": (73.69, 24, 6.69, 196.6),
}

# Figures of the others: state MiB, KV KiB per token.
SIZES = {
    "nemotron-nano-9b-v2": (136.9, 16),
    "nemotron-3-super-120b": (162.3, 8),
    "nemotron-3-nano-30b-a3b": (46.8, 6),
    "granite-4.0-h-small": (145.74, 16),
    "falcon-h1-7b": (132.9, 44),
    "jamba-v0.1": (15.31, 16),
    "kimi-linear-48b": (41.41, 7.9),
}


def decimals(figure: float) -> int:
    return len(str(figure).partition(".")[2])


@pytest.mark.parametrize("name", TABLE)
def test_every_figure_of_the_table(name: str) -> None:
    geometry = MODELS[name]
    state_mib, kv_kib, linear_gflop, pair_kflop = TABLE[name]
    # 49.125 is printed as 49.12: half to even, as Python rounds.
    assert round(geometry.state_bytes / MIB, 2) == state_mib
    assert geometry.kv_bytes_per_token == kv_kib * 1024
    assert round(geometry.linear_flops_per_token / 1e9, 2) == linear_gflop
    assert round(geometry.pair_flops / 1e3, 1) == pair_kflop


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_other_models(name: str) -> None:
    geometry = MODELS[name]
    state_mib, kv_kib = SIZES[name]
    assert round(geometry.state_bytes / MIB, decimals(state_mib)) == state_mib
    assert round(geometry.kv_bytes_per_token / 1024, decimals(kv_kib)) == kv_kib


def test_every_model_is_held_to_figures() -> None:
    assert set(MODELS) == {*TABLE, *SIZES}
    assert all(name == geometry.name for name, geometry in MODELS.items())


def test_state_of_nemotron_in_bf16() -> None:
    geometry = MODELS["nemotron-nano-9b-v2"]
    halved = replace(geometry, recurrent=replace(geometry.recurrent, ssm_dtype_bytes=2))
    assert round(halved.state_bytes / MIB, 1) == 69.4


@pytest.mark.parametrize(
    ("name", "page_tokens", "one_state_tokens", "fp32_conv_mib"),
    [
        ("qwen3.5-9b", 528, 1572, 50.25),
        ("qwen3.5-27b", 784, 2349, 149.63),
        ("qwen3.5-35b-a3b", 1056, 3144, 62.81),
        ("qwen3.5-122b-a10b", 2096, 6252, 149.06),
        ("qwen3.5-397b-a17b", 2096, 6252, 186.33),
        ("qwen3-next-80b-a3b", 1056, 3144, 75.38),
    ],
)
def test_sizes_that_engines_state(
    name: str, page_tokens: int, one_state_tokens: int, fp32_conv_mib: float
) -> None:
    geometry = MODELS[name]
    layer_state = geometry.state_bytes / geometry.recurrent.layers
    layer_kv = geometry.kv_bytes_per_token / geometry.attention.layers
    assert 16 * ceil(layer_state / (16 * layer_kv)) == page_tokens
    assert floor(geometry.state_bytes / geometry.kv_bytes_per_token) == one_state_tokens
    wide = replace(geometry, recurrent=replace(geometry.recurrent, conv_dtype_bytes=4))
    assert wide.state_bytes / MIB == pytest.approx(fp32_conv_mib, abs=0.0051)


def test_linear_flops_by_hand() -> None:
    # The 0.8B, written out: GatedDeltaNet, gated attention, MLP; then the scan.
    recurrent = 1024 * (2 * 16 * 128 + 16 * 128 + 16 * 128 + 16 + 16) + 16 * 128 * 1024
    attention = 1024 * (2 * 8 * 256 + 2 * 256 + 2 * 256) + 8 * 256 * 1024
    parameters = 18 * recurrent + 6 * attention + 24 * 3 * 1024 * 3584
    scan = 4 * 64 * 128 + 64 * 256 + 6 * 128 * 128 + 2 * 64 * 128
    geometry = MODELS["qwen3.5-0.8b"]
    assert geometry.active_parameters == geometry.parameters == parameters
    assert geometry.linear_flops_per_token == 2 * parameters + 18 * 16 * scan


def test_experts_change_what_is_active() -> None:
    geometry = MODELS["qwen3.5-35b-a3b"]
    routed = 40 * 3 * 2048 * 512
    assert geometry.parameters - geometry.active_parameters == (256 - 8) * routed
    assert geometry.touched_parameters(8) == geometry.active_parameters


def test_no_flops_where_only_sizes_are_known() -> None:
    geometry = MODELS["jamba-v0.1"]
    for name in ("linear_flops_per_token", "pair_flops", "parameters", "active_parameters"):
        with pytest.raises(UsageError, match="its FLOPs are not"):
            getattr(geometry, name)


def test_unknown_model() -> None:
    with pytest.raises(UsageError, match=r"unknown model 'qwen3\.5-9'; did you mean 'qwen3\.5-9b'"):
        find_model("qwen3.5-9")
