"""Fields of a cost profile that do not depend on timings: model, machine, software."""

from __future__ import annotations

from typing import Any

from calibration import preflight
from calibration.kernels import kernel_warnings
from calibration.models.attention import without_mask
from calibration.models.hybrid import HybridModel, dtype_name
from calibration.models.states import CacheSizes
from calibration.parts import model_parts
from calibration.preflight import Machine
from calibration.subject import Subject, config_sha256, read_config

_HOW = {"cuda": "CUDA events, medians", "cpu": "processor time of one thread, minima"}


def provenance(
    subject: Subject, machine: Machine, model: HybridModel, ceilings: dict[str, float]
) -> dict[str, Any]:
    """Return the profile fields from `profile_id` to `kv`; bytes are those of the real tensors."""
    device = "cpu" if machine.kind == "cpu" else slug(machine.name)
    sizes = _sizes(model)
    return {
        "profile_id": f"{slug(subject.name)}-{device}",
        "kind": "toy" if subject.toy else "measured",
        "source": f"timed by milepost calibrate: {_how(machine, model)}",
        "licence": "Apache-2.0",
        "hardware": _hardware(machine, ceilings),
        "software": preflight.software(machine.kind),
        "model": _model(subject, model, sizes),
        **_bytes(sizes, subject.plan.groups),
    }


def _how(machine: Machine, model: HybridModel) -> str:
    """Describe how the profile was timed."""
    if machine.kind == "cpu":
        return _HOW["cpu"]
    mask = "without a mask" if without_mask(model.config) else "with a mask in memory"
    return f"{_HOW['cuda']}; attention behind a context {mask}"


def model_warnings(subject: Subject, device_kind: str) -> list[str]:
    """Return warnings about the measured model, one sentence each."""
    warnings = []
    if device_kind == "cuda":
        warnings += kernel_warnings(read_config(subject.folder) if subject.folder else {})
    if subject.plan.groups > 1:
        warnings.append(
            f"one layer group was timed and counted {subject.plan.groups} times; embeddings and "
            "output head are left out"
        )
    if subject.folder is None and not subject.toy:
        warnings.append("random weights, which cost what trained ones do")
    return warnings


def slug(name: str) -> str:
    """Return a name with all characters replaced that profile names may not contain."""
    kept = "".join(c if (c.isascii() and c.isalnum()) or c in ".-_" else "-" for c in name.lower())
    return kept.strip("-")[:80] or "local"


def _hardware(machine: Machine, ceilings: dict[str, float]) -> dict[str, Any]:
    """Return the profile's field `hardware`."""
    fields: dict[str, Any] = {"name": machine.name, "memory": machine.memory, "ceilings": ceilings}
    optional = {"driver": machine.driver, "clocks": machine.clocks}
    return fields | {key: value for key, value in optional.items() if value}


def _model(subject: Subject, model: HybridModel, sizes: CacheSizes) -> dict[str, Any]:
    """Return the profile's field `model`."""
    groups = subject.plan.groups
    known = {} if subject.folder else model_parts(subject.plan.geometry)["model"]
    return {
        **known,
        "name": slug(subject.name),
        "config_sha256": config_sha256(model.config),
        "layer_types": {
            "recurrent": sizes.recurrent_layers * groups,
            "attention": sizes.attention_layers * groups,
        },
        "parameters": _parameters(model) * groups,
        "weights": "real" if subject.folder else "random",
        "dtype": dtype_name(model.dtype),
        "scale": subject.plan.scale,
    }


def _bytes(sizes: CacheSizes, groups: int) -> dict[str, Any]:
    """Return the profile fields `state` and `kv`.

    The alignment is 1, since a state can be taken after any token by cutting the prefill there.
    """
    return {
        "state": {
            "ssm_bytes": sizes.ssm_bytes * groups,
            "conv_bytes": sizes.conv_bytes * groups,
            "bytes_per_checkpoint": (sizes.ssm_bytes + sizes.conv_bytes) * groups,
            "alignment": 1,
            "dtypes": {"ssm": sizes.ssm_dtype, "conv": sizes.conv_dtype},
        },
        "kv": {"bytes_per_token": sizes.kv_bytes_per_token * groups, "dtype": sizes.kv_dtype},
    }


def _sizes(model: HybridModel) -> CacheSizes:
    """Run a few tokens to measure what the model's cache stores."""
    cache = model.new_cache(8)
    model.forward(cache, model.random_tokens(8, seed=0))
    return cache.sizes()


def _parameters(model: HybridModel) -> int:
    """Count the parameters of all layers, without embeddings and output head."""
    module = model.module
    ends = (module.get_input_embeddings(), module.get_output_embeddings())
    outside = {id(p) for end in ends if end is not None for p in end.parameters()}
    return sum(p.numel() for p in module.parameters() if id(p) not in outside)
