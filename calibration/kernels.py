"""Which kernels run the recurrent layers: those that can be bound, not those that are installed.

transformers binds a package if it can be imported and falls back to torch without a word if not, as
where a package of its own is missing. So each is imported here too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, cast

# What is imported of a package tells whether its kernels are there.
MODULES = {
    "fla-core": "fla.ops.gated_delta_rule",
    "causal-conv1d": "causal_conv1d",
    "mamba-ssm": "mamba_ssm",
}
_FALLBACK = "torch fallback (no fla-core, no causal-conv1d)"


def kernels(device_kind: str) -> str:
    """Name the kernels that are bound on a kind of device, or what runs instead, and why."""
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
    """Return a sentence for every kernel that a model lacks on a GPU.

    Parameters
    ----------
    config
        Of the model: what is named after Mamba tells whose kernels it takes.
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
    """Say whether the kernels of a package are there."""
    return installed(name) is not None and fault(name) is None


def fault(name: str) -> str | None:
    """Return why a package cannot be imported; None where it can."""
    try:
        import_module(MODULES[name])
    except Exception as error:  # whatever it is, transformers falls back
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None


def installed(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def hide_from_cpu(device: str) -> None:
    """Keep transformers from binding kernels that only a GPU can run, if the model is for a CPU.

    It binds what it finds once, when a model is first imported, wherever that model is to run.
    """
    if device == "cpu":
        blocked = cast("dict[str, ModuleType | None]", sys.modules)  # None: no import finds it
        for module in MODULES.values():
            blocked.setdefault(module.partition(".")[0], None)
