"""The options of a calibration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a calibration.

    Parameters
    ----------
    model
        A name, or a Hugging Face folder with safetensors.
    device
        "cpu", "cuda" or "cuda:0".
    out
        The profile to write; the journal lies beside it.
    budget_seconds
        Wall time; None sets none.
    seed
        Of weights, tokens, held-out points and the order of repetitions.
    fresh
        Measure everything anew, whatever the journal has.
    group
        Build one layer group, and let it stand for all.
    dtype
        Of the weights, one of `precision.DTYPES`; None takes float32 on a CPU and bfloat16 on a
        GPU.
    """

    model: str
    device: str
    out: Path
    budget_seconds: float | None = None
    seed: int = 0
    fresh: bool = False
    group: bool = False
    dtype: str | None = None

    @property
    def journal(self) -> Path:
        """Where measurements go as they come."""
        return self.out.with_name(f"{self.out.name}.journal")
