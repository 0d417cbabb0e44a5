from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from calibration import kernels as known


def pretend(monkeypatch: pytest.MonkeyPatch, **packages: str) -> None:
    """Have these versions installed, and no other package of kernels."""
    monkeypatch.setattr(known, "installed", {**packages}.get)
    for module in known.MODULES.values():
        monkeypatch.setitem(sys.modules, module, ModuleType(module))


def broken(monkeypatch: pytest.MonkeyPatch, module: str, error: Exception) -> None:
    """Have a module that cannot be imported."""

    def refuse(name: str) -> Any:
        if name == module:
            raise error
        return sys.modules[name]

    monkeypatch.setattr(known, "import_module", refuse)


def test_what_is_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    assert known.kernels("cuda") == "torch fallback (no fla-core, no causal-conv1d)"
    pretend(monkeypatch, **{"fla-core": "0.4.1", "causal-conv1d": "1.5"})
    assert known.kernels("cuda") == "fla-core 0.4.1, causal-conv1d 1.5"
    assert known.kernels("cpu") == "torch fallback (no fla-core, no causal-conv1d)"


def test_what_is_installed_and_cannot_be_imported_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, **{"fla-core": "0.4.1", "causal-conv1d": "1.5"})
    broken(
        monkeypatch, known.MODULES["fla-core"], ModuleNotFoundError("No module named\n 'einops'")
    )
    assert known.kernels("cuda") == (
        "causal-conv1d 1.5; fla-core 0.4.1 is not bound (ModuleNotFoundError: No module named "
        "'einops')"
    )
    assert known.kernel_warnings({}) == [
        "the recurrence ran on the torch fallback, several times slower than with fla-core"
    ]


@pytest.mark.parametrize(
    ("config", "packages", "parts"),
    [
        ({}, ["fla-core", "causal-conv1d"], []),
        ({}, ["fla-core"], ["the convolution ran in torch"]),
        ({}, ["mamba-ssm", "causal-conv1d"], ["slower than with fla-core"]),
        ({"mamba_num_heads": 8}, ["fla-core", "causal-conv1d"], ["slower than with mamba-ssm"]),
        ({"mamba_num_heads": 8}, [], ["slower than with mamba-ssm", "the convolution"]),
    ],
)
def test_a_profile_is_warned_of_each_kernel_that_its_model_lacks(
    config: Mapping[str, Any],
    packages: list[str],
    parts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, **dict.fromkeys(packages, "1.0"))
    warnings = known.kernel_warnings(config)
    assert len(warnings) == len(parts)
    assert all(part in text for part, text in zip(parts, warnings, strict=True))


def test_a_model_for_a_cpu_never_binds_what_only_a_gpu_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("fla", "causal_conv1d", "mamba_ssm"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    known.hide_from_cpu("cuda:0")
    assert "fla" not in sys.modules
    known.hide_from_cpu("cpu")
    for name in ("fla", "causal_conv1d", "mamba_ssm"):
        assert sys.modules[name] is None
        with pytest.raises(ImportError):
            __import__(name)
        monkeypatch.delitem(sys.modules, name)
