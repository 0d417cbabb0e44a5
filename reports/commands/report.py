"""`milepost report`: the page again, from the stored results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from reports.commands.options import Json
from reports.console import print_json, print_line

Images = Annotated[
    Literal["png", "svg", "pdf"] | None, typer.Option(help="Write each chart as an image too.")
]


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of results.")],
    images: Images = None,
    json: Json = False,
) -> None:
    """Write a page again from the results of a sweep or of `capacity`; nothing is simulated."""
    page, charts = _capacity(folder) if _is_capacity(folder) else _sweep(folder)
    written = [page]
    if images is not None:
        from reports.charts import write_images
        from reports.files import make_folder

        make_folder(folder / "charts")
        written += write_images(charts(), folder / "charts", images)
    if json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        print_line(str(path))


def _sweep(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Write the page of a sweep; return where it is, and what makes its charts."""
    from reports.artefacts import read_artefacts, write_page
    from reports.charts import build_charts

    cells, manifest = read_artefacts(folder)
    write_page(folder, cells, manifest)
    return folder / "report.html", lambda: build_charts(cells, manifest)


def _is_capacity(folder: Path) -> bool:
    return (folder / "capacity.json").is_file()


def _capacity(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Do the same for the least memory that meets a target."""
    from reports.capacity.charts import capacity_charts
    from reports.capacity.page import PAGE, read_capacity, write_capacity

    found = read_capacity(folder)
    write_capacity(folder, found)
    return folder / PAGE, lambda: capacity_charts(found)
