"""`milepost report`: make a page again from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import print_json, print_line

ImageFormat = Literal["png", "svg", "pdf"]
Images = Annotated[ImageFormat | None, typer.Option(help="Write each chart as an image too.")]


@options
class ReportAgainCommand(JsonOption):
    """Make the page of `sweep`, `capacity`, `compare` or `drift` again; nothing is simulated."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of results.")]
    images: Images = None

    def run(self) -> None:
        """Write the page, and print where it is."""
        from reports.pages import report_of
        from reports.report.store import store, store_images

        kept = report_of(self.folder)
        written = [store(kept, self.folder)]
        if self.images is not None:
            written += store_images(kept, self.folder / "charts", self.images)
        if self.json:
            print_json({"files": [str(path) for path in written]})
            return
        for path in written:
            print_line(str(path))
