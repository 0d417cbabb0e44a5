from __future__ import annotations

import pytest

from calibration.models.configs import (
    TOY,
    ModelPlan,
    buildable,
    config_of,
    find_geometry,
    one_group,
)
from simulator.base.errors import UsageError
from simulator.costs.geometry import MODELS
from tests.calibration.tiny import torch, transformers

NAMED = [name for name in buildable() if name != TOY.name]
OUTSIDE = ("embed_tokens", "lm_head")


def on_meta(config: object) -> torch.nn.Module:
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config)


def matrices(model: torch.nn.Module) -> int:
    """Count what `simulator.costs.geometry` counts.

    That is matrices, without embeddings, head and convolutions.
    """
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if parameter.ndim >= 2 and "conv1d" not in name and not any(o in name for o in OUTSIDE)
    )


@pytest.mark.parametrize("name", NAMED)
def test_models_have_the_parameters_and_layers_of_the_table(name: str) -> None:
    geometry = MODELS[name]
    config = config_of(geometry)
    assert matrices(on_meta(config)) == geometry.parameters
    kinds = config.layer_types
    assert kinds.count("linear_attention") == geometry.recurrent.layers
    assert kinds.count("full_attention") == geometry.attention.layers
    assert kinds[:4] == ["linear_attention"] * 3 + ["full_attention"]


def test_the_defaults_of_transformers_are_the_9b() -> None:
    ours, theirs = config_of(MODELS["qwen3.5-9b"]), transformers.Qwen3_5TextConfig()
    for field in ("hidden_size", "intermediate_size", "layer_types", "num_attention_heads"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.vocab_size == theirs.vocab_size


@pytest.mark.parametrize("name", NAMED)
def test_a_layer_group_is_three_recurrent_layers_and_one_of_attention(name: str) -> None:
    plan = one_group(MODELS[name])
    assert plan.scale == f"group x {MODELS[name].attention.layers}"
    assert (plan.built.recurrent.layers, plan.built.attention.layers) == (3, 1)
    config = config_of(plan.built)
    assert config.layer_types == ["linear_attention"] * 3 + ["full_attention"]
    assert matrices(on_meta(config)) * plan.groups == MODELS[name].parameters


def test_a_whole_model_is_one_group() -> None:
    assert ModelPlan(TOY).scale == "whole"
    assert ModelPlan(TOY).built == TOY


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qwen3.5-9", "did you mean 'qwen3.5-9b'"),
        ("jamba-v0.1", "cannot build a model 'jamba-v0.1'"),
        ("", "expected one of: toy-qwen3.5"),
    ],
)
def test_unknown_models_are_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_geometry(name)
