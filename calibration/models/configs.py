"""Configurations of transformers for named models, without downloads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.costs.geometry import MODELS, AttentionLayers, FeedForward, Geometry, RecurrentLayers

GROUP_LAYERS = 4  # three recurrent layers and one attention layer
VOCABULARY = 248_320
NEXT_VOCABULARY = 151_936

# Small enough to calibrate on two CPU cores in minutes, with the architecture of real models.
TOY = Geometry(
    "toy-qwen3.5",
    RecurrentLayers(3, 2, 4, key_dim=32, value_dim=32),
    AttentionLayers(1, 4, 2, head_dim=64),
    hidden=256,
    feed_forward=FeedForward(768),
)
TOY_VOCABULARY = 1024


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Part of a model that is built: all layers, or one layer group that represents several.

    A layer group is an attention layer with the recurrent layers before it.

    Parameters
    ----------
    geometry
        Geometry of the whole model.
    groups
        Number of layer groups of the whole model if one is built; 1 if all layers are.
    """

    geometry: Geometry
    groups: int = 1

    @property
    def scale(self) -> str:
        """The profile's field `model.scale`: "whole" or "group x k"."""
        return "whole" if self.groups == 1 else f"group x {self.groups}"

    @property
    def built(self) -> Geometry:
        """The geometry of what is built: the whole model or one layer group."""
        recurrent, attention = self.geometry.recurrent, self.geometry.attention
        return replace(
            self.geometry,
            recurrent=replace(recurrent, layers=recurrent.layers // self.groups),
            attention=replace(attention, layers=attention.layers // self.groups),
        )


def buildable() -> list[str]:
    """Return the names of models that can be built with random weights."""
    known = [name for name, geometry in MODELS.items() if geometry.feed_forward is not None]
    return [TOY.name, *known]


def find_geometry(name: str) -> Geometry:
    """Return the geometry of a model that can be built.

    Raises
    ------
    UsageError
        If the name is unknown.
    """
    if name == TOY.name:
        return TOY
    if name not in buildable():
        hint = did_you_mean(name, buildable())
        raise UsageError(
            f"cannot build a model '{printable(name)}'{hint} (or a Hugging Face folder)"
        )
    return MODELS[name]


def one_group(geometry: Geometry) -> ModelPlan:
    """Return the plan to build one layer group: an attention layer and its recurrent layers."""
    return ModelPlan(geometry, geometry.attention.layers)


def config_of(geometry: Geometry) -> Any:
    """Return the configuration of a Qwen3.5 or Qwen3-Next with this geometry.

    Raises
    ------
    UsageError
        If only the sizes of the model are known.
    """
    import transformers

    block = geometry.feed_forward
    if block is None:
        raise UsageError(f"model '{geometry.name}': its sizes are known, its make is not")
    fields = _fields(geometry)
    if not block.experts:
        dense = {"intermediate_size": block.width}
        return transformers.Qwen3_5TextConfig(**fields, **dense)
    experts = {
        "num_experts": block.experts,
        "num_experts_per_tok": block.active,
        "moe_intermediate_size": block.width,
        "shared_expert_intermediate_size": block.width,
    }
    if geometry.name.startswith("qwen3-next"):
        return transformers.Qwen3NextConfig(**fields | {"vocab_size": NEXT_VOCABULARY}, **experts)
    return transformers.Qwen3_5MoeTextConfig(**fields, **experts)


def _fields(geometry: Geometry) -> dict[str, Any]:
    """Return the configuration fields that all Qwen3.5 and Qwen3-Next models share."""
    recurrent, attention = geometry.recurrent, geometry.attention
    return {
        "vocab_size": TOY_VOCABULARY if geometry.name == TOY.name else VOCABULARY,
        "hidden_size": geometry.hidden,
        "num_hidden_layers": recurrent.layers + attention.layers,
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.kv_heads,
        "head_dim": attention.head_dim,
        "linear_conv_kernel_dim": recurrent.kernel,
        "linear_num_key_heads": recurrent.key_heads,
        "linear_num_value_heads": recurrent.value_heads,
        "linear_key_head_dim": recurrent.key_dim,
        "linear_value_head_dim": recurrent.value_dim,
        "max_position_embeddings": 262_144,
    }
