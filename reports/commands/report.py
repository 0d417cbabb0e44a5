"""`milepost report`: the page again, from the stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from reports.commands.options import Json
from reports.console import print_json, print_line

Images = Annotated[
    Literal["png", "svg", "pdf"] | None, typer.Option(help="Write each chart as an image too.")
]


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a sweep.")],
    images: Images = None,
    json: Json = False,
) -> None:
    """Write report.html again from the results of a sweep; nothing is simulated."""
    from reports.artefacts import read_artefacts, write_page

    cells, manifest = read_artefacts(folder)
    write_page(folder, cells, manifest)
    written = [folder / "report.html"]
    if images is not None:
        from reports.charts import build_charts, write_images
        from reports.files import make_folder

        make_folder(folder / "charts")
        charts = build_charts(cells, manifest)
        write_images(charts, folder / "charts", images)
        written += [folder / "charts" / f"{name}.{images}" for name in charts]
    if json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        print_line(str(path))
