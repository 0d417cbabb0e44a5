"""Composes a cost profile from prefill times that were summed over single operators.

`python -m calibration.compose REFERENCE.json -o OUT.json`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from calibration.gpus import GPUS, Gpu
from calibration.parts import H200_DEVICE_GBPS, copy_parts, model_parts
from simulator.base.decode import Within, decode
from simulator.base.errors import DataError, MilepostError
from simulator.base.files import write_text
from simulator.base.json_file import read_json
from simulator.costs.geometry import find_model
from simulator.costs.profile import Profile, parse_profile, profile_to_json
from simulator.costs.schema import Text

CREATED = "2026-11-30"  # constant, so that the output is reproducible

Milliseconds = tuple[Annotated[float, Within(1e-6, 1e9)], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A table of prefill times without context at batch size 1, summed over a model's operators.

    Parameters
    ----------
    model, source
        The model's published name, and the source of the operator times.
    batch
        Requests per pass.
    n
        Tokens prefilled.
    linear_ms
        Milliseconds in everything but attention, one per entry of `n`.
    attn_ms_c0
        Milliseconds in attention without context, one per entry of `n`.
    e_us_per_pair
        Microseconds per pair of new token and context token.
    """

    model: Text
    source: Text
    batch: Literal[1]
    n: tuple[Annotated[int, Within(1, 2**40)], ...]
    linear_ms: Milliseconds
    attn_ms_c0: Milliseconds
    e_us_per_pair: Annotated[float, Within(0.0, 1e6)]


def read_reference(path: str | Path) -> Reference:
    """Read the table from a JSON file.

    Raises
    ------
    DataError
        If the file cannot be read or has invalid content.
    """
    source = str(path)
    reference = decode(Reference, read_json(path, "a composed table"), source)
    for name in ("linear_ms", "attn_ms_c0"):
        if len(getattr(reference, name)) != len(reference.n):
            raise DataError(source, f"expected {len(reference.n)} entries, as in n", field=name)
    return reference


def fixed_part_us(reference: Reference) -> list[float]:
    """Return the prefill table F(n) in microseconds, rounded to nanoseconds.

    A profile gives the time to prefill n tokens without context as t = F(n) + e n^2 / 2, where e is
    the time per pair of tokens in attention. The reference has t = linear(n) + attention(n), so

        F(n) = linear(n) + attention(n) - e n^2 / 2.

    So F includes the part of attention that is not e per pair: its minimum time at small n, and a
    negative correction at large n, where pairs take less than e. For the H200 tables the correction
    is at most 8 % of F, which remains positive.
    """
    e_us = reference.e_us_per_pair
    rows = zip(reference.n, reference.linear_ms, reference.attn_ms_c0, strict=True)
    return [round(1e3 * (linear + attn) - e_us * n * n / 2, 3) for n, linear, attn in rows]


def compose(reference: Reference, gpu: Gpu) -> Profile:
    """Build the profile of a reference table on a GPU.

    Raises
    ------
    UsageError
        If the model's geometry is unknown.
    DataError
        If the table does not give a valid profile.
    """
    geometry = find_model(reference.model.rpartition("/")[2].lower())
    profile_id = f"{geometry.name}-{gpu.name}"
    data = {
        "schema_version": 1,
        "profile_id": profile_id,
        "kind": "composed",
        "source": f"{reference.source}; kernels only: no launch gaps, no output head; "
        f"copies: device as timed for 49 MiB, host and disk as stated, latency not counted",
        "licence": "Apache-2.0",
        "created": CREATED,
        "hardware": {"name": gpu.full_name, "memory": gpu.memory_bytes},
        "software": {"kernels": "vllm 0.24.0"},
        **model_parts(geometry),
        "prefill": {
            "F": {"n": list(reference.n), "us": fixed_part_us(reference)},
            "e_us_per_pair": reference.e_us_per_pair,
            # The table has no contexts, so the valid range ends with its longest prompt.
            "valid": {"n_max": max(reference.n), "c_max": max(reference.n)},
        },
        **copy_parts(H200_DEVICE_GBPS),
    }
    return parse_profile(data, profile_id)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m calibration.compose", description=__doc__)
    parser.add_argument("reference", help="JSON file with the tables")
    parser.add_argument("-o", "--out", required=True, help="profile to write")
    parser.add_argument("--gpu", default="h200", choices=sorted(GPUS), help="default: h200")
    options = parser.parse_args(arguments)
    try:
        profile = compose(read_reference(options.reference), GPUS[options.gpu])
        write_text(Path(options.out), profile_to_json(profile))
    except MilepostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
