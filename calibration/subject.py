"""The model to calibrate: found by name or folder, whole or one layer group."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration.models.configs import GROUP_LAYERS, TOY, ModelPlan, find_geometry, one_group
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.json_file import read_json
from simulator.costs.geometry import AttentionLayers, FeedForward, Geometry, RecurrentLayers

if TYPE_CHECKING:
    from calibration.models.hybrid import HybridModel

PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt")
GATE_EXPERTS = 16
_MEMORY_SHARE = 0.8  # for weights; the rest is for KV and temporary tensors
LONGEST_TOKENS = 262_144  # default for the maximum context
GROUP_VOCABULARY = 1024  # small, since the output head would be counted once per group


@dataclass(frozen=True, slots=True)
class Subject:
    """The model to calibrate.

    Parameters
    ----------
    name
        Name in the profile.
    plan
        Its geometry, and the number of layer groups that the built one represents.
    folder
        Folder with its weights; None for random weights.
    """

    name: str
    plan: ModelPlan
    folder: Path | None = None

    @property
    def toy(self) -> bool:
        """Whether it is the built-in toy model."""
        return self.plan.geometry == TOY

    @property
    def most_tokens(self) -> int:
        """The model's maximum context in tokens."""
        if self.folder is None:
            return LONGEST_TOKENS
        longest = read_config(self.folder).get("max_position_embeddings", LONGEST_TOKENS)
        return longest if isinstance(longest, int) and longest > 0 else LONGEST_TOKENS

    def weight_bytes(self, of_number: int) -> int:
        """Return the bytes of all weights, including embeddings and output head.

        Parameters
        ----------
        of_number
            Bytes per number.
        """
        geometry = self.plan.built
        vocabulary = GROUP_VOCABULARY if self.plan.groups > 1 else 248_320
        embeddings = 2 * geometry.hidden * (1024 if self.toy else vocabulary)
        return of_number * (geometry.parameters + embeddings)


def find_subject(model: str, *, group: bool = False) -> Subject:
    """Return the model for a name or a folder.

    Raises
    ------
    UsageError
        If the name is unknown, or a layer group is requested for a folder.
    DataError
        If the folder holds no model, or a pickle was given.
    """
    path = Path(model)
    if path.suffix in PICKLES:
        problem = "a pickle may run code when it is opened: expected a folder with config.json "
        raise DataError(model, f"{problem}and *.safetensors")
    if not path.is_dir():
        geometry = find_geometry(model)
        return Subject(model, one_group(geometry) if group else ModelPlan(geometry))
    if group:
        raise UsageError(f"--group: '{printable(model)}' is a folder, whose weights are whole")
    config = read_config(path)
    return Subject(path.resolve().name, ModelPlan(rough_geometry(config, str(path))), path)


def read_config(folder: Path) -> Mapping[str, Any]:
    """Return the configuration of the text model in a Hugging Face folder."""
    config = read_json(folder / "config.json", "a model's configuration")
    if not isinstance(config, dict):
        raise DataError(str(folder / "config.json"), "expected an object")
    text = config.get("text_config")
    return text if isinstance(text, dict) else config


def rough_geometry(config: Mapping[str, Any], source: str) -> Geometry:
    """Return a geometry accurate enough to estimate measurement times.

    It is exact for Qwen3.5 and Qwen3-Next and approximate for others. The bytes in the profile come
    from the model's tensors instead.
    """
    hidden = _size(config, source, "hidden_size")
    kinds = config.get("layer_types") or config.get("layers_block_type") or []
    kinds = kinds if isinstance(kinds, list) else []
    layers = _size(config, source, "num_hidden_layers", len(kinds) or None)
    attention = sum(str(kind) in {"full_attention", "attention"} for kind in kinds)
    attention = attention or max(layers // GROUP_LAYERS, 1)
    heads = _size(config, source, "num_attention_heads")
    return Geometry(
        "local",
        RecurrentLayers(
            layers - attention,
            _size(config, source, "linear_num_key_heads", heads),
            _size(config, source, "linear_num_value_heads", heads),
        ),
        AttentionLayers(attention, heads, _size(config, source, "num_key_value_heads", heads)),
        hidden,
        FeedForward(_size(config, source, "intermediate_size", 4 * hidden)),
    )


def fitting(subject: Subject, free_bytes: int, of_number: int) -> Subject:
    """Return the model to calibrate: the whole, or one layer group if it exceeds memory.

    Parameters
    ----------
    subject
        The model.
    free_bytes
        Free memory of the device.
    of_number
        Bytes per number of the weights.

    Raises
    ------
    UsageError
        If not even one layer group fits.
    """
    room = int(_MEMORY_SHARE * free_bytes)
    needed = subject.weight_bytes(of_number)
    if needed <= room or subject.folder is not None:
        return subject
    smaller = replace(subject, plan=one_group(subject.plan.geometry))
    if smaller.weight_bytes(of_number) > room:
        raise UsageError(
            f"model '{subject.name}': one layer group needs "
            f"{smaller.weight_bytes(of_number) / 1e9:.1f} GB for its weights, and "
            f"{room / 1e9:.1f} GB are free"
        )
    return smaller


def build_subject(subject: Subject, device: str, dtype: Any, seed: int) -> HybridModel:
    """Build or load the model, ready to run."""
    from calibration.models.build import build, load
    from calibration.models.hybrid import HybridModel

    if subject.folder is not None:
        return HybridModel(load(subject.folder, device=device, dtype=dtype))
    return HybridModel(build(_config(subject), device=device, dtype=dtype, seed=seed))


def build_for_gate(subject: Subject, device: str, dtype: Any, seed: int) -> HybridModel:
    """Build a similar model for the exactness check, with random weights and slow decays.

    For a named model it is one layer group, which has every kind of layer; for a folder it follows
    the configuration there.
    """
    from calibration.models.build import build
    from calibration.models.hybrid import HybridModel

    if subject.folder is None:
        config = _config(replace(subject, plan=one_group(subject.plan.geometry)))
    else:
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(subject.folder, local_files_only=True)
        config = config.get_text_config()
    config.vocab_size = min(config.vocab_size, GROUP_VOCABULARY)
    if getattr(config, "num_experts", None):  # among hundreds of experts ties are frequent
        config.num_experts = min(config.num_experts, GATE_EXPERTS)
    return HybridModel(build(config, device=device, dtype=dtype, seed=seed))


def config_sha256(config: Any) -> str:
    """Return the hash of a configuration, without fields that describe its origin."""
    fields = {
        key: value
        for key, value in config.to_dict().items()
        if key not in {"_name_or_path", "transformers_version"}
    }
    text = json.dumps(fields, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _config(subject: Subject) -> Any:
    """Return the transformers configuration of what is built."""
    from calibration.models.configs import config_of

    config = config_of(subject.plan.built)
    if subject.plan.groups > 1:
        config.vocab_size = GROUP_VOCABULARY
    return config


def _size(config: Mapping[str, Any], source: str, key: str, default: int | None = None) -> int:
    """Return a field of a configuration, checked to be an integer from 1 to 1 million."""
    value = config.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**6:
        problem = f"expected a whole number from 1 to 1000000, found {printable(repr(value), 60)}"
        raise DataError(f"{source}/config.json", problem, field=key)
    return value
