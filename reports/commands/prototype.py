"""`milepost prototype`: simulated against measured, on a model that really runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.again import typed_again
from reports.commands.groups import spread
from reports.commands.options import AS_IT_SAYS, Json, Quiet, TraceFlags
from reports.console import Progress
from reports.files import make_folder
from reports.prototype.setup import GENERATOR, Setup

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun


@spread()
def prototype(
    model: Annotated[str, typer.Option(help="A name, or a Hugging Face folder.")] = "toy-qwen3.5",
    group: Annotated[bool, typer.Option("--group", help="One layer group of it.")] = False,
    device: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where it runs.")] = "cpu",
    dtype: Annotated[
        str | None,
        typer.Option(
            metavar="float32|bfloat16|float16", help="Default: float32 on a CPU, or bfloat16."
        ),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="A trace file; without it: --generator.")
    ] = None,
    reading: TraceFlags = AS_IT_SAYS,
    generator: Annotated[str, typer.Option(help="Of the trace.")] = GENERATOR,
    requests: Annotated[int, typer.Option(help="To serve; of a file, the first ones.")] = 48,
    load: Annotated[
        float | None, typer.Option(help="Stretch arrivals: share of time busy without a cache.")
    ] = None,
    placer: Annotated[str, typer.Option(help="As in block:size=64.")] = "branch",
    eviction: Annotated[str, typer.Option(help="As in fifo.")] = "lru",
    admission: Annotated[str, typer.Option(help="As in always.")] = "always",
    capacity: Annotated[str, typer.Option(help="As in '8 GiB'.")] = "unbounded",
    profile: Annotated[
        str | None, typer.Option(help="Name or JSON file; without it one is measured quickly.")
    ] = None,
    passes: Annotated[int, typer.Option(help="How often the trace is served.")] = 3,
    seed: Annotated[int, typer.Option(help="Of weights, tokens and traffic.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the page, figures, profile.")] = None,
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN.json", help="Tell a run again; measure nothing."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve a short trace through a real model and compare each time with the simulated one."""
    if stored is not None:
        from calibration.prototype.served import read_run

        run = read_run(stored)
    else:
        setup = Setup(
            model=model,
            group=group,
            device=device,
            dtype=dtype,
            trace=trace,
            reading=reading.given(),
            generator=generator,
            requests=requests,
            load=load,
            placer=placer,
            eviction=eviction,
            admission=admission,
            capacity=capacity,
            profile=profile,
            passes=passes,
            seed=seed,
        )
        run = _measured(setup, out, quiet=quiet or json)
    from reports.pages.prototype import prototype_report
    from reports.report.showing import show_with_page

    report = prototype_report(run, typed_again("milepost prototype"))
    if out is not None:
        make_folder(out)
    show_with_page(report, None if out is None else out / report.page_file, as_json=json)


def _measured(setup: Setup, out: Path | None, *, quiet: bool) -> PrototypeRun:
    """Run the prototype; write what was measured before anything is told of it."""
    from reports.prototype.run import measure, write_measured

    if out is not None:
        make_folder(out)
    with Progress(quiet=quiet, what="requests") as progress:
        run, profile = measure(setup, progress)
    if out is not None:
        write_measured(out, run, profile)
    return run
