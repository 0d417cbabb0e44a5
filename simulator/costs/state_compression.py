"""Lossy states: fewer bits for each of their numbers, bytes counted exactly. Standard library only.

A state is read and written again at every later token, so an error in it stays; what it does to
answers is not known here. The scales that a quantiser keeps beside its blocks of numbers are not
counted.

Engines offer bfloat16 (vLLM: `mamba_ssm_cache_dtype`). Eight bits are a what-if: published schemes,
such as Quamba (arXiv:2410.13229), quantise what enters and leaves the recurrence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from simulator.base.errors import printable

FORMATS = {"int8": 8, "fp8": 8, "bfloat16": 16}
_BITS = {"float32": 32, "bfloat16": 16, "float16": 16, "int8": 8}
PARTS = ("ssm", "conv")


@dataclass(frozen=True, slots=True)
class StateCompression:
    """The number format in which a cache keeps states; parts of no more bits stay as they are."""

    dtype: Literal["int8", "fp8", "bfloat16"]

    def described(self) -> str:
        """Return how states are kept, in words."""
        return f"kept in {self.dtype}"


def spared_bytes(
    compression: StateCompression, parts: Mapping[str, int], dtypes: Mapping[str, str] | None
) -> int:
    """Return the bytes that a state no longer takes.

    Parameters
    ----------
    compression
        How it is kept.
    parts
        Bytes of its parts as the model has them, "ssm" and "conv".
    dtypes
        The number format of each part.

    Raises
    ------
    ValueError
        As `fault` says.
    """
    problem = fault(compression, dtypes)
    if problem or dtypes is None:
        raise ValueError(problem)
    bits, most = {part: _BITS[dtypes[part]] for part in PARTS}, FORMATS[compression.dtype]
    return sum(parts[part] * max(0, bits[part] - most) // bits[part] for part in PARTS)


def fault(compression: StateCompression, dtypes: Mapping[str, str] | None) -> str | None:
    """Return why states of these number formats, by part, cannot be compressed like this."""
    formats = [str((dtypes or {}).get(part)) for part in PARTS]
    for part, dtype in zip(PARTS, formats, strict=True):
        if dtype not in _BITS:
            known = ", ".join(_BITS)
            return f"expected state.dtypes.{part} to be one of {known}, found {printable(dtype)}"
    if all(_BITS[dtype] <= FORMATS[compression.dtype] for dtype in formats):
        return f"states are in {' and '.join(dict.fromkeys(formats))} already"
    return None
