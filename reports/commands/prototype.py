"""`milepost prototype`: simulated against measured times, on a model that really runs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.again import typed_again
from reports.commands.declared import options
from reports.commands.options import OutputOptions, ReadingOptions
from reports.console import Progress
from reports.files import make_folder
from reports.prototype.setup import Setup, SetupOptions

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun


@options
class PrototypeCommand(SetupOptions, ReadingOptions, OutputOptions):
    """Serve a short trace through a real model and compare each time with the simulated one."""

    out: Annotated[Path | None, typer.Option(help="Folder for the page, figures, profile.")] = None
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN.json", help="Tell a run again; measure nothing."),
    ] = None

    def run(self) -> None:
        """Serve the trace, and print how far the times are apart."""
        if self.stored is not None:
            from calibration.prototype.served import read_run

            run = read_run(self.stored)
        else:
            asked = {field.name: getattr(self, field.name) for field in fields(SetupOptions)}
            setup = Setup(**asked, reading=self.reading)
            run = _measured(setup, self.out, quiet=self.silent)
        from reports.pages.prototype import prototype_report
        from reports.report.showing import show_with_page

        report = prototype_report(run, typed_again("milepost prototype"))
        if self.out is not None:
            make_folder(self.out)
        page = None if self.out is None else self.out / report.page_file
        show_with_page(report, page, as_json=self.json)


def _measured(setup: Setup, out: Path | None, *, quiet: bool) -> PrototypeRun:
    """Run the prototype, and write what it measured before anything is printed."""
    from reports.prototype.run import measure, write_measured

    if out is not None:
        make_folder(out)
    with Progress(quiet=quiet, what="requests") as progress:
        run, profile = measure(setup, progress)
    if out is not None:
        write_measured(out, run, profile)
    return run
