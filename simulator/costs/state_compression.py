"""Lossy compression of recurrent states to fewer bits, with exact byte counts.

Uses the standard library only. A state is read and updated at every later token, so its error
persists; the effect on answers is not modelled. The scale factors that a quantiser stores with its
blocks are not counted.

Engines offer bfloat16 (vLLM: `mamba_ssm_cache_dtype`). Eight bits are hypothetical: published
schemes, such as Quamba (arXiv:2410.13229), quantise the inputs and outputs of the recurrence.
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
    """The number format in which states are stored; parts of fewer bits are left unchanged."""

    dtype: Literal["int8", "fp8", "bfloat16"]

    def described(self) -> str:
        """Describe the number format."""
        return f"kept in {self.dtype}"


def spared_bytes(
    compression: StateCompression, parts: Mapping[str, int], dtypes: Mapping[str, str] | None
) -> int:
    """Return the bytes that compression saves per state.

    Parameters
    ----------
    compression
        The number format.
    parts
        Uncompressed bytes of the parts "ssm" and "conv".
    dtypes
        Original number format of each part.

    Raises
    ------
    ValueError
        If the compression does not fit the formats; see `fault`.
    """
    problem = fault(compression, dtypes)
    if problem or dtypes is None:
        raise ValueError(problem)
    bits, most = {part: _BITS[dtypes[part]] for part in PARTS}, FORMATS[compression.dtype]
    return sum(parts[part] * max(0, bits[part] - most) // bits[part] for part in PARTS)


def fault(compression: StateCompression, dtypes: Mapping[str, str] | None) -> str | None:
    """Return why states with these number formats by part cannot be compressed, or None."""
    formats = [str((dtypes or {}).get(part)) for part in PARTS]
    for part, dtype in zip(PARTS, formats, strict=True):
        if dtype not in _BITS:
            known = ", ".join(_BITS)
            return f"expected state.dtypes.{part} to be one of {known}, found {printable(dtype)}"
    if all(_BITS[dtype] <= FORMATS[compression.dtype] for dtype in formats):
        return f"states are in {' and '.join(dict.fromkeys(formats))} already"
    return None
