"""Models in torch, with random weights or from a local folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from calibration.kernels import hide_from_cpu
from calibration.models.decays import lengthen_memory
from simulator.base.errors import DataError


def build(
    config: Any, *, device: str = "cpu", dtype: torch.dtype = torch.float32, seed: int = 0
) -> torch.nn.Module:
    """Return a model with seeded random weights and long memory, in evaluation mode.

    It is laid out without memory, given memory on the device and filled there, so that no copy of
    the weights ever lies on the host. Filling also computes the rotary frequencies, which are
    buffers and would otherwise hold what the memory held.

    Parameters
    ----------
    config
        A configuration of transformers.
    device, dtype
        Where and in which precision.
    seed
        Of the weights.
    """
    _prepare(device)
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.to_empty(device=device)
    _forget_initialised(model)
    torch.manual_seed(seed)
    model.init_weights()
    lengthen_memory(model)
    _check_buffers(model)
    return _ready(model, device)


def load(folder: Path, *, device: str, dtype: torch.dtype) -> torch.nn.Module:
    """Return the model in a Hugging Face folder, with the weights that lie there.

    Only safetensors are read: a pickle may run code.

    Raises
    ------
    DataError
        Where the folder holds no model that can be read.
    """
    _prepare(device)
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    if not (folder / "config.json").is_file():
        raise DataError(str(folder), "expected a folder with a config.json")
    if not any(folder.glob("*.safetensors")):
        raise DataError(str(folder), "expected weights as *.safetensors, found none")
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, local_files_only=True, use_safetensors=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(str(folder), f"holds no model that can be loaded: {reason}") from None
    return _ready(model.to(device), device)


def _prepare(device: str) -> None:
    """Set up transformers before a model is imported, and keep it from telling what we tell."""
    hide_from_cpu(device)
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _ready(model: torch.nn.Module, device: str) -> torch.nn.Module:
    from calibration.models.attention import use_where_it_works

    model.eval()
    model.requires_grad_(requires_grad=False)
    use_where_it_works(model, device)
    return model


def _forget_initialised(model: torch.nn.Module) -> None:
    """Drop the marks by which transformers would skip what it takes for filled already."""
    for holder in (*model.modules(), *model.parameters(), *model.buffers()):
        if hasattr(holder, "_is_hf_initialized"):
            del holder._is_hf_initialized


def _check_buffers(model: torch.nn.Module) -> None:
    """Raise if a rotary frequency was left as memory had it: each is within (0, 1]."""
    for name, buffer in model.named_buffers():
        if name.endswith("inv_freq"):
            assert bool(((buffer > 0) & (buffer <= 1)).all()), f"{name} was not filled"
