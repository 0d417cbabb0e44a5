"""`milepost calibrate`: measure a model on this machine, and write its cost profile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.console import print_line

Model = Annotated[str, typer.Option("--model", help="A name, or a Hugging Face folder.")]
Out = Annotated[Path, typer.Option("--out", help="The profile to write (JSON).")]
Device = Annotated[str, typer.Option("--device", help="cpu, cuda or cuda:0.")]
Budget = Annotated[
    str | None, typer.Option("--budget", help="Time to keep to, as in 10m; the rest is left out.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of weights, tokens and held-out points.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Measure everything anew; else a killed run goes on.")
]
Group = Annotated[
    bool, typer.Option("--group", help="Build one layer group, and count it for all.")
]
Dtype = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        metavar="float32|bfloat16|float16",
        help="Of the weights; default: float32 on a CPU, or bfloat16.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and its time.")]


def calibrate(
    model: Model,
    out: Out,
    device: Device = "cpu",
    budget: Budget = None,
    seed: Seed = 0,
    fresh: Fresh = False,
    group: Group = False,
    dtype: Dtype = None,
    dry_run: DryRun = False,
) -> None:
    """Measure what prefills and copies of states cost here, prove that states are exact, fit.

    Needs torch and transformers: pip install -e '.[calibration]' in the clone of Milepost.
    """
    from calibration.calibrate import calibrate as measure
    from calibration.calibrate import parse_budget, plan_lines, plan_of
    from calibration.settings import Options
    from calibration.summary import summary_lines

    budget_seconds = None if budget is None else parse_budget(budget)
    options = Options(model, device, out, budget_seconds, seed, fresh, group, dtype)
    lines = plan_lines(*plan_of(options)) if dry_run else summary_lines(measure(options), out)
    for line in lines:
        print_line(line)
