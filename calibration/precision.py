"""Number formats of measured models, and full precision for fp32 products.

A GPU may round inputs of fp32 products to TF32 (10 bits of mantissa): torch if configured so,
Triton kernels (including fla-core's) by default. The error is a thousand times the tolerance of
the exactness check, so every model would fail it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from simulator.base.errors import UsageError, printable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

FLOAT32 = "float32"
DTYPES = (FLOAT32, "bfloat16", "float16")
TRITON_PRECISION = "TRITON_F32_DEFAULT"  # environment variable, read when a kernel is compiled


def check_dtype(asked: str | None) -> None:
    """Raise UsageError if a number format is not supported; None stands for the default."""
    if asked is not None and asked not in DTYPES:
        expected = f"{', '.join(DTYPES[:-1])} or {DTYPES[-1]}"
        raise UsageError(f"--dtype: expected {expected}, found '{printable(asked)}'")


def dtype_for(asked: str | None, device_kind: str) -> str:
    """Return the given number format, or by default float32 on a CPU and bfloat16 on a GPU."""
    check_dtype(asked)
    return asked or ("bfloat16" if device_kind == "cuda" else FLOAT32)


@contextmanager
def full_precision() -> Iterator[None]:
    """Disable rounding of fp32 products to TF32 inside the `with` block.

    The settings are restored afterwards, since torch raises an error when its older settings are
    read while they differ from these.
    """
    import torch

    holders = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)
    before = [holder.fp32_precision for holder in holders]
    triton = os.environ.get(TRITON_PRECISION)
    os.environ[TRITON_PRECISION] = "ieee"
    try:
        for holder in holders:
            holder.fp32_precision = "ieee"
        yield
    finally:
        for holder, precision in zip(holders, before, strict=True):
            holder.fp32_precision = precision
        os.environ.pop(TRITON_PRECISION)
        if triton is not None:
            os.environ[TRITON_PRECISION] = triton


def precision_of(dtype: str) -> AbstractContextManager[None]:
    """Return the context manager in which to run a model: no TF32 rounding if it is float32."""
    return full_precision() if dtype == FLOAT32 else nullcontext()
