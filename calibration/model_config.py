"""Reads the sizes of a hybrid model from its `config.json`, with only the standard library.

It handles the field names of each model family: which layers are recurrent and which are
attention, state shapes, heads, number formats. `simulator.costs.geometry` computes bytes from
these. Source: the configurations in Hugging Face format published with the models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.base.errors import DataError, printable
from simulator.base.json_file import read_json
from simulator.costs.geometry import AttentionLayers, Geometry, RecurrentLayers

_DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_RECURRENT = {"mamba", "mamba2", "linear_attention", "recurrent", "m"}
_ATTENTION = {"attention", "full_attention", "hybrid", "*"}
_NEITHER = {"moe", "mlp", "-", "e", "o"}


def config_geometry(path: str | Path) -> Geometry:
    """Return the geometry of a model from its `config.json` or the folder that contains it.

    Raises
    ------
    DataError
        If the file is not a configuration, lacks a size, or the model has no recurrent layers.
    """
    file = Path(path) / "config.json" if Path(path).is_dir() else Path(path)
    config = read_json(file, "a model's configuration")
    if not isinstance(config, dict):
        raise DataError(str(file), "expected an object")
    text = config.get("text_config")
    fields = _Fields(text if isinstance(text, dict) else config, str(file))
    recurrent, attention = _layers(fields)
    if not recurrent:
        raise DataError(str(file), "expected a model with recurrent layers, found none")
    name = re.sub(r"[^\w.+-]+", "-", file.absolute().parent.name)[:80] or "model"
    return Geometry(name, _recurrent(fields, recurrent), _attention(fields, attention))


@dataclass(frozen=True, slots=True)
class _Fields:
    """Validated access to the fields of a model configuration."""

    values: Mapping[str, Any]
    source: str

    def whole(self, *names: str, default: int | None = None) -> int:
        """Return the first of the named fields that exists: an integer from 1 to 10 million."""
        for name in names:
            value = self.values.get(name)
            if value is None or value == "auto":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**7:
                shown = printable(repr(value), 60)
                problem = f"expected a whole number from 1 to 10000000, found {shown}"
                raise DataError(self.source, problem, field=name)
            return value
        if default is None:
            raise DataError(self.source, "expected this field, found none", field=names[0])
        return default

    def dtype_bytes(self, *names: str, default: int) -> int:
        """Return the bytes per number of the first named field that gives a number format."""
        for name in names:
            value = self.values.get(name)
            if value is not None and value != "auto":
                dtype = str(value).removeprefix("torch.")
                if dtype not in _DTYPE_BYTES:
                    known = ", ".join(_DTYPE_BYTES)
                    problem = f"expected one of {known}, found {printable(repr(value), 60)}"
                    raise DataError(self.source, problem, field=name)
                return _DTYPE_BYTES[dtype]
        return default


def _layers(fields: _Fields) -> tuple[int, int]:
    """Return a model's number of recurrent layers and of attention layers."""
    values = fields.values
    if values.get("model_type") == "falcon_h1":  # each layer has both
        layers = fields.whole("num_hidden_layers")
        return layers, layers
    for name in ("layer_types", "layers_block_type", "hybrid_override_pattern"):
        if values.get(name):
            return _counted(values[name], name, fields.source)
    linear = values.get("linear_attn_config")
    if isinstance(linear, dict):
        lists = [linear.get(name) for name in ("kda_layers", "full_attn_layers")]
        if all(isinstance(layers, list) for layers in lists):
            return len(lists[0] or ()), len(lists[1] or ())
    return _by_rule(fields)


def _counted(kinds: Any, field: str, source: str) -> tuple[int, int]:
    """Count recurrent and attention layers in a list of names, or a text with a letter each."""
    if not isinstance(kinds, (list, str)):
        raise DataError(source, "expected the kinds of layers", field=field)
    names = [str(kind).lower() for kind in kinds]
    strange = next((n for n in names if n not in _RECURRENT | _ATTENTION | _NEITHER), None)
    if strange is not None:
        problem = (
            "expected layers that are recurrent, of full attention or feed-forward, "
            f"found '{printable(strange, 40)}'"
        )
        raise DataError(source, problem, field=field)
    recurrent = sum(name in _RECURRENT or name == "hybrid" for name in names)
    return recurrent, sum(name in _ATTENTION for name in names)


def _by_rule(fields: _Fields) -> tuple[int, int]:
    """Return the number of recurrent and of attention layers, given by an interval or indices."""
    layers = fields.whole("num_hidden_layers")
    indices = fields.values.get("attn_layer_indices")
    if isinstance(indices, list):
        return layers - len(indices), len(indices)
    if fields.values.get("attn_layer_period"):
        period = fields.whole("attn_layer_period")
        offset = fields.values.get("attn_layer_offset") or 0
        attention = sum(layer % period == offset for layer in range(layers))
        return layers - attention, attention
    every = fields.whole("full_attention_interval")
    return layers - layers // every, layers // every


def _recurrent(fields: _Fields, layers: int) -> RecurrentLayers:
    """Return the shape of the recurrent layers, for any supported model family."""
    values = fields.values
    common = {
        "ssm_dtype_bytes": fields.dtype_bytes(
            "mamba_ssm_cache_dtype", "mamba_ssm_dtype", default=4
        ),
        "conv_dtype_bytes": fields.dtype_bytes("dtype", "torch_dtype", default=2),
        "chunk": fields.whole("chunk_size", "mamba_chunk_size", default=64),
    }
    linear = values.get("linear_attn_config")
    if isinstance(linear, dict):  # KDA
        inner = _Fields(linear, fields.source)
        heads, dim = inner.whole("num_heads"), inner.whole("head_dim")
        kernel = inner.whole("short_conv_kernel_size", default=4)
        return RecurrentLayers(layers, heads, heads, dim, dim, kernel, **common)
    if "linear_num_value_heads" in values:  # GatedDeltaNet
        return RecurrentLayers(
            layers,
            fields.whole("linear_num_key_heads"),
            fields.whole("linear_num_value_heads"),
            fields.whole("linear_key_head_dim", default=128),
            fields.whole("linear_value_head_dim", default=128),
            fields.whole("linear_conv_kernel_dim", default=4),
            **common,
        )
    kernel = fields.whole("conv_kernel", "mamba_d_conv", default=4)
    state = fields.whole("ssm_state_size", "mamba_d_state")
    if "mamba_num_heads" in values or "mamba_n_heads" in values:  # Mamba-2
        heads = fields.whole("mamba_num_heads", "mamba_n_heads")
        inner_width = fields.whole("mamba_d_ssm", default=_expanded(fields))
        dim = fields.whole("mamba_head_dim", "mamba_d_head", default=max(inner_width // heads, 1))
        groups = fields.whole("n_groups", "mamba_n_groups")
        return RecurrentLayers(layers, groups, heads, state, dim, kernel, **common)
    return RecurrentLayers(layers, 0, _expanded(fields), state, 1, kernel, **common)  # Mamba-1


def _expanded(fields: _Fields) -> int:
    """Return the inner width of a Mamba layer."""
    return fields.whole("expand", "mamba_expand", default=2) * fields.whole("hidden_size")


def _attention(fields: _Fields, layers: int) -> AttentionLayers:
    """Return the shape of the attention layers, with keys and values or latent attention."""
    heads = fields.whole("num_attention_heads")
    dtype_bytes = fields.dtype_bytes("dtype", "torch_dtype", default=2)
    if fields.values.get("kv_lora_rank"):
        latent = fields.whole("kv_lora_rank") + fields.whole("qk_rope_head_dim")
        return AttentionLayers(layers, 0, 0, latent_dim=latent, dtype_bytes=dtype_bytes)
    dim = fields.whole("head_dim", default=max(fields.whole("hidden_size") // heads, 1))
    kv_heads = fields.whole("num_key_value_heads", default=heads)
    return AttentionLayers(layers, heads, kv_heads, dim, dtype_bytes=dtype_bytes)
