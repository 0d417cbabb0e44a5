"""Kernels that a model has bound: named, and left out where exactness is proved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.calibration.tiny import tiny_model, torch

# isort: split
from calibration import exactness
from calibration.models import bound
from calibration.models.hybrid import HybridModel

KERNEL = "torch_chunk_gated_delta_rule"


@pytest.fixture
def model() -> HybridModel:
    tiny: HybridModel = tiny_model("qwen3.5")
    return tiny


@pytest.fixture
def rounding(model: HybridModel) -> Iterator[list[int]]:
    """Bind a kernel that rounds to ten bits, as TF32 does; return how often it was called."""
    calls: list[int] = []
    (cells,) = [
        cells
        for cells in bound._wrappers(model.module)
        if cells["torch_function"].cell_contents.__name__ == KERNEL
    ]
    before = bound._contents(cells)
    right = before["torch_function"]

    def kernel(*tensors: Any, **options: Any) -> Any:
        calls.append(1)
        return right(*(tensor.to(torch.float16).float() for tensor in tensors), **options)

    taken = (*before["applicable_params"], "cu_seqlens")
    changes = {"implementation": kernel, "is_new_implementation": True, "applicable_params": taken}
    bound._set(cells, before | changes)
    yield calls
    bound._set(cells, before)


def test_all_of_it_is_torch_where_nothing_is_bound(model: HybridModel) -> None:
    assert bound.bound_kernels(model.module) == []
    assert exactness.examine_kernels(model) is None


def test_what_is_bound_is_named_and_left_out(model: HybridModel, rounding: list[int]) -> None:
    assert bound.bound_kernels(model.module) == [__name__]
    finding = exactness.examine(model)
    assert finding.passed
    assert not rounding
    with bound.without_kernels(model.module):
        assert bound.bound_kernels(model.module) == []
    with pytest.raises(ZeroDivisionError), bound.without_kernels(model.module):
        raise ZeroDivisionError
    assert bound.bound_kernels(model.module) == [__name__]
    with_kernels = exactness.examine_kernels(model)
    assert rounding
    assert with_kernels is not None
    assert with_kernels.error > finding.error
    assert not with_kernels.exact  # the gate would refuse every model for its kernels' rounding
    assert exactness.kernel_failure(with_kernels) is None


def test_kernels_that_hide_a_mistake_fail() -> None:
    hidden = exactness.ExactnessFinding(continued=0.01, restored=0.01, kv_left=0.09, no_replay=0.2)
    assert "with the kernels that are bound" in str(exactness.kernel_failure(hidden))
    shown = exactness.ExactnessFinding(continued=0.01, restored=0.009, kv_left=0.1, no_replay=0.2)
    assert exactness.kernel_failure(shown) is None


@pytest.mark.parametrize("family", ["qwen3-next", "nemotron-h", "falcon-h1", "kimi-linear"])
def test_every_family_has_its_wrappers_found(family: str) -> None:
    assert bound._wrappers(tiny_model(family).module)
