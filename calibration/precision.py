"""In which precision a model is measured, and fp32 products that nothing rounds.

A GPU may round what it multiplies in fp32 to TF32, ten bits: torch where it is told so, Triton's
kernels (fla-core's among them) unless they are told otherwise. That is a thousand times what a
resumed prefill is held to, and would fail every model.
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
TRITON_PRECISION = "TRITON_F32_DEFAULT"  # read when a kernel is compiled


def check_dtype(asked: str | None) -> None:
    """Raise a UsageError where a precision is none of `DTYPES`; None stands for the default."""
    if asked is not None and asked not in DTYPES:
        expected = f"{', '.join(DTYPES[:-1])} or {DTYPES[-1]}"
        raise UsageError(f"--dtype: expected {expected}, found '{printable(asked)}'")


def dtype_for(asked: str | None, device_kind: str) -> str:
    """Return the precision that is asked for, or float32 on a CPU and bfloat16 on a GPU."""
    check_dtype(asked)
    return asked or ("bfloat16" if device_kind == "cuda" else FLOAT32)


@contextmanager
def full_precision() -> Iterator[None]:
    """Keep fp32 products from being rounded to TF32, and leave the settings as they were.

    Torch refuses to read its older settings while these differ from them, so they must not stay.
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
    """Return the context in which a model of this precision is run: float32 is all of it."""
    return full_precision() if dtype == FLOAT32 else nullcontext()
