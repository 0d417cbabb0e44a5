"""`milepost trace generate`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reports.commands.options import Json
from reports.commands.trace.files import Out, refuse_suffix, write


def generate(
    out: Out,
    requests: Annotated[int | None, typer.Option(help="Requests.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    drift: Annotated[float | None, typer.Option(help="0: stationary, to 1.")] = None,
    rate: Annotated[float | None, typer.Option(help="Requests/s.")] = None,
    block: Annotated[int, typer.Option(min=1, help="Tokens a block, in JSONL.")] = 64,
    json: Json = False,
) -> None:
    """Write the built-in workload as a trace file."""
    from workloads.synthetic import SyntheticSpec
    from workloads.synthetic import generate as generate_trace

    refuse_suffix(out)
    knobs: dict[str, Any] = {"requests": requests, "drift": drift, "rate_per_second": rate}
    given = {name: value for name, value in knobs.items() if value is not None}
    write(generate_trace(SyntheticSpec(seed=seed, **given)), out, block, as_json=json)
