from __future__ import annotations

import os

import pytest

from calibration.precision import (
    DTYPES,
    TRITON_PRECISION,
    check_dtype,
    dtype_for,
    full_precision,
    precision_of,
)
from simulator.base.errors import UsageError

torch = pytest.importorskip("torch", reason="torch is not installed (extra: calibration)")


def settings() -> tuple[object, ...]:
    """Return what decides how torch and Triton multiply in fp32."""
    backends = torch.backends
    return (
        backends.cuda.matmul.fp32_precision,
        backends.cudnn.conv.fp32_precision,
        os.environ.get(TRITON_PRECISION),
    )


@pytest.mark.parametrize("triton", [None, "tf32x3"])
def test_products_are_exact_within_and_as_before_behind(
    triton: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if triton is None:
        monkeypatch.delenv(TRITON_PRECISION, raising=False)
    else:
        monkeypatch.setenv(TRITON_PRECISION, triton)
    before = settings()
    with full_precision():
        assert settings() == ("ieee", "ieee", "ieee")
    assert settings() == before
    with pytest.raises(ZeroDivisionError), full_precision():
        raise ZeroDivisionError
    assert settings() == before
    assert torch.backends.cudnn.allow_tf32 in {True, False}  # torch refuses where they disagree


def test_the_gate_leaves_the_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from calibration import exactness
    from tests.calibration.tiny import tiny_model

    seen = []
    forward = type(tiny_model("qwen3.5")).forward

    def noted(*arguments: object, **options: object) -> object:
        seen.append(settings())
        return forward(*arguments, **options)

    model = tiny_model("qwen3.5")
    monkeypatch.setattr(type(model), "forward", noted)
    before = settings()
    exactness.examine(model)
    assert set(seen) == {("ieee", "ieee", "ieee")}
    assert settings() == before


@pytest.mark.parametrize("dtype", DTYPES)
def test_only_float32_is_run_in_full_precision(dtype: str) -> None:
    with precision_of(dtype):
        assert (os.environ.get(TRITON_PRECISION) == "ieee") == (dtype == "float32")


def test_the_default_is_that_of_the_device() -> None:
    assert dtype_for(None, "cpu") == "float32"
    assert dtype_for(None, "cuda") == "bfloat16"
    assert dtype_for("float16", "cuda") == "float16"


@pytest.mark.parametrize("name", ["", "fp32", "float64", "bfloat16\n", "Float32"])
def test_other_precisions_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(
        UsageError, match="--dtype: expected float32, bfloat16 or float16"
    ) as caught:
        check_dtype(name)
    assert "\n" not in str(caught.value)
