from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.calibration.tiny import tiny_model, torch  # first: it skips where torch is absent

# isort: split
from calibration.models.build import build
from calibration.models.configs import TOY, config_of, one_group
from calibration.models.hybrid import HybridModel
from calibration.models.states import _forget_states, _tensors
from simulator.costs.geometry import MODELS

NAMED = [name for name, geometry in MODELS.items() if geometry.feed_forward is not None]


def narrow(name: str, dtype: torch.dtype) -> HybridModel:
    """Return one layer group whose cache has the real widths, and nothing else has."""
    built = one_group(MODELS[name]).built
    block = replace(built.feed_forward, width=8)
    if block.experts:
        block = replace(block, experts=2, active=1)
    config = config_of(replace(built, hidden=64, feed_forward=block))
    config.vocab_size = 64
    return HybridModel(build(config, dtype=dtype))


@pytest.mark.parametrize("name", NAMED)
def test_real_tensors_weigh_what_the_table_says(name: str) -> None:
    geometry = MODELS[name]
    groups = geometry.attention.layers
    model = narrow(name, torch.bfloat16)
    cache = model.new_cache(8)
    model.forward(cache, model.random_tokens(5, seed=0))
    sizes = cache.sizes()
    assert (sizes.recurrent_layers, sizes.attention_layers) == (3, 1)
    assert (sizes.ssm_dtype, sizes.conv_dtype) == ("float32", "bfloat16")
    assert sizes.ssm_bytes * groups == geometry.recurrent.ssm_bytes
    assert sizes.conv_bytes * groups == geometry.recurrent.conv_bytes
    assert sizes.kv_bytes_per_token * groups == geometry.kv_bytes_per_token


def test_a_snapshot_of_the_papers_layer_group_has_its_3440640_bytes() -> None:
    # One layer group of the 0.8B in fp32. The paper counts what transformers holds, four inputs of
    # the convolution a layer in fp32; the next token needs three of them, and bf16 halves those.
    model = narrow("qwen3.5-0.8b", torch.float32)
    cache = model.new_cache(8)
    model.forward(cache, model.random_tokens(5, seed=0))
    snapshot, sizes = cache.snapshot(), cache.sizes()
    assert snapshot.size_bytes == 3_440_640
    assert sizes.held_bytes == 3_440_640
    assert sizes.ssm_bytes == 3 * 16 * 128 * 128 * 4
    assert sizes.held_bytes - sizes.ssm_bytes == 3 * 6144 * 4 * 4
    assert sizes.conv_bytes == 3 * 6144 * 3 * 4


def test_snapshots_do_not_change_with_the_cache() -> None:
    model = tiny_model("qwen3.5")
    cache = model.new_cache(64)
    tokens = model.random_tokens(40, seed=2)
    model.forward(cache, tokens[:, :20])
    snapshot = cache.snapshot()
    kept = [tensor.clone() for tensor in snapshot.tensors]
    first = model.forward(cache, tokens[:, 20:])
    assert (snapshot.tokens, cache.tokens) == (20, 40)
    assert all(map(torch.equal, snapshot.tensors, kept))
    cache.restore(snapshot)
    assert cache.tokens == 20
    assert torch.equal(model.forward(cache, tokens[:, 20:]), first)  # the same calls, the same bits


def test_a_cleared_cache_is_an_empty_one() -> None:
    model = tiny_model("qwen3.5")
    tokens = model.random_tokens(30, seed=2)
    new = model.forward(model.new_cache(64), tokens)
    used = model.new_cache(64)
    model.forward(used, model.random_tokens(25, seed=9))
    used.clear()
    assert used.tokens == 0
    assert torch.equal(model.forward(used, tokens), new)


def test_kv_behind_the_cursor_stays() -> None:
    model = tiny_model("qwen3.5")
    cache = model.new_cache(64)
    model.forward(cache, model.random_tokens(30, seed=2))
    rows = [row.clone() for row in cache.kv_rows(10, 30)]
    cache.move_cursor(10)
    assert all(map(torch.equal, cache.kv_rows(10, 30), rows))


@pytest.mark.parametrize("held", ["tensor", "list", "dict"])
def test_states_are_found_in_every_shape_that_transformers_has_had(held: str) -> None:
    tensor = torch.ones(2)
    shapes = {"tensor": tensor, "list": [tensor, None], "dict": {0: tensor, 1: None}}
    assert _tensors(shapes[held]) == [tensor]
    assert _tensors(None) == []


@pytest.mark.parametrize("held", [True, [True, True], {0: True, 1: True}])
def test_every_shape_of_the_mark_is_forgotten(held: bool | list[bool] | dict[int, bool]) -> None:
    layer = SimpleNamespace(has_previous_state=held)
    _forget_states(layer)
    left = layer.has_previous_state
    values = left.values() if isinstance(left, dict) else left if isinstance(left, list) else [left]
    assert not any(values)


def test_the_toy_is_a_small_model_of_the_same_make() -> None:
    model = HybridModel(build(config_of(TOY)))
    assert sum(p.numel() for p in model.module.parameters()) < 10_000_000
    assert model.config.layer_types == ["linear_attention"] * 3 + ["full_attention"]
