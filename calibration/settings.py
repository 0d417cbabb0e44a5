"""The options of a calibration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from simulator.base.flags import Flag


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a calibration.

    Parameters
    ----------
    model
        A model name, or a Hugging Face folder with safetensors.
    device
        "cpu", "cuda" or "cuda:0".
    out
        Path of the profile to write; the journal is stored beside it.
    budget_seconds
        Wall time; None for unlimited.
    seed
        Seed of weights, tokens, held-out points and order of repetitions.
    fresh
        Measure everything again, ignoring the journal.
    group
        Build and measure one layer group (an attention layer with its recurrent layers), and scale
        it to the whole model.
    dtype
        Number format of the weights, one of `precision.DTYPES`; None for float32 on a CPU and
        bfloat16 on a GPU.
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
        """Path of the journal of measurements."""
        return self.out.with_name(f"{self.out.name}.journal")


@dataclass(frozen=True, kw_only=True)
class TypedOptions:
    """The options of a calibration as they are typed on a command line."""

    model: Annotated[str, Flag("A name, or a Hugging Face folder.")]
    out: Annotated[Path, Flag("The profile to write (JSON).")]
    device: Annotated[str, Flag("cpu, cuda or cuda:0.")] = "cpu"
    budget: Annotated[str | None, Flag("Time to keep to, as in 10m; the rest is left out.")] = None
    seed: Annotated[int, Flag("Of weights, tokens and held-out points.")] = 0
    fresh: Annotated[bool, Flag("Measure everything anew; else a killed run goes on.")] = False
    group: Annotated[bool, Flag("Build one layer group, and count it for all.")] = False
    dtype: Annotated[
        str | None,
        Flag("Of the weights; default: float32 on a CPU, or bfloat16.", "float32|bfloat16|float16"),
    ] = None
    dry_run: Annotated[bool, Flag("Print the plan and its time.")] = False
