"""`milepost report`: the page again, from the stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reports.commands.options import Json
from reports.console import print_json, print_line

ImageFormat = Literal["png", "svg", "pdf"]
Images = Annotated[ImageFormat | None, typer.Option(help="Write each chart as an image too.")]


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of results.")],
    images: Images = None,
    json: Json = False,
) -> None:
    """Write the page of `sweep`, `capacity`, `compare` or `drift` again; nothing is simulated."""
    from reports.pages import report_of
    from reports.report.store import store, store_images

    kept = report_of(folder)
    written = [store(kept, folder)]
    if images is not None:
        written += store_images(kept, folder / "charts", images)
    if json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        print_line(str(path))
