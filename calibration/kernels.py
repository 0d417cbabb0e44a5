"""Finds which optimised kernels run the recurrent layers: those importable, not just installed.

transformers uses a kernel package if it can be imported, and otherwise silently falls back to torch
(for example if a dependency of the package is missing). So each package is imported here too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, cast

# The module whose import shows that a package's kernels are usable.
MODULES = {
    "fla-core": "fla.ops.gated_delta_rule",
    "causal-conv1d": "causal_conv1d",
    "mamba-ssm": "mamba_ssm",
}
_FALLBACK = "torch fallback (no fla-core, no causal-conv1d)"


def kernels(device_kind: str) -> str:
    """Describe the kernels in use on a kind of device, and why installed ones are unusable."""
    if device_kind != "cuda":
        return _FALLBACK
    faults = {name: fault(name) for name in MODULES if installed(name) is not None}
    bound = [f"{name} {installed(name)}" for name, wrong in faults.items() if wrong is None]
    broken = [
        f"{name} {installed(name)} is not bound ({wrong})"
        for name, wrong in faults.items()
        if wrong
    ]
    return "; ".join([", ".join(bound) or _FALLBACK, *broken])


def kernel_warnings(config: Mapping[str, Any]) -> list[str]:
    """Return a warning for every optimised kernel that a model lacks on a GPU.

    Parameters
    ----------
    config
        The model's configuration; keys that start with "mamba" identify Mamba models.
    """
    recurrence = "mamba-ssm" if any(key.startswith("mamba") for key in config) else "fla-core"
    warnings = []
    if not is_bound(recurrence):
        warnings.append(
            f"the recurrence ran on the torch fallback, several times slower than with {recurrence}"
        )
    if not is_bound("causal-conv1d"):
        warnings.append("the convolution ran in torch, slower than with causal-conv1d")
    return warnings


def is_bound(name: str) -> bool:
    """Tell whether an optimised kernel package can be used."""
    return installed(name) is not None and fault(name) is None


def fault(name: str) -> str | None:
    """Return why a kernel package cannot be imported, or None."""
    try:
        import_module(MODULES[name])
    except Exception as error:  # transformers falls back after any exception
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None


def installed(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def hide_from_cpu(device: str) -> None:
    """Prevent transformers from using GPU-only kernels if the model runs on a CPU.

    transformers chooses kernels when a model is first imported, regardless of the device.
    """
    if device == "cpu":
        blocked = cast("dict[str, ModuleType | None]", sys.modules)  # None makes imports fail
        for module in MODULES.values():
            blocked.setdefault(module.partition(".")[0], None)
