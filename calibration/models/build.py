"""Builds models in torch, with random weights or from a local folder."""

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
    """Build a model with seeded random weights and slow decays, in evaluation mode.

    The model is created without memory, then allocated and initialised on the device, so that
    weights are never copied from the host. Initialisation also computes the rotary frequencies,
    which are buffers and would otherwise be uninitialised.

    Parameters
    ----------
    config
        A configuration of transformers.
    device, dtype
        Device and number format.
    seed
        Seed of the weights.
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
    """Load the model and its weights from a Hugging Face folder.

    Only safetensors are read, since a pickle may run code.

    Raises
    ------
    DataError
        If the folder holds no readable model.
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
    """Configure transformers before it imports a model, and silence its messages."""
    hide_from_cpu(device)
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _ready(model: torch.nn.Module, device: str) -> torch.nn.Module:
    """Put a model into evaluation mode, without gradients."""
    from calibration.models.attention import use_where_it_works

    model.eval()
    model.requires_grad_(requires_grad=False)
    use_where_it_works(model, device)
    return model


def _forget_initialised(model: torch.nn.Module) -> None:
    """Remove the marks that make transformers skip the initialisation of parameters."""
    for holder in (*model.modules(), *model.parameters(), *model.buffers()):
        if hasattr(holder, "_is_hf_initialized"):
            del holder._is_hf_initialized


def _check_buffers(model: torch.nn.Module) -> None:
    """Assert that rotary frequencies were initialised: each must be within (0, 1]."""
    for name, buffer in model.named_buffers():
        if name.endswith("inv_freq"):
            assert bool(((buffer > 0) & (buffer <= 1)).all()), f"{name} was not filled"
