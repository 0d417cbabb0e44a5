"""`milepost report`: the page again, from the stored results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

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
    written = _moved(folder, images) if _is_moved(folder) else _others(folder, images)
    if json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in written:
        print_line(str(path))


def _is_moved(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("capacity.json", "drift.json", "series.json"))


def _moved(folder: Path, images: ImageFormat | None) -> list[Path]:
    from reports.pages import report_of
    from reports.report.store import store, store_images

    kept = report_of(folder)
    page = store(kept, folder)
    return [page, *(store_images(kept, folder / "charts", images) if images else ())]


def _others(folder: Path, images: ImageFormat | None) -> list[Path]:
    """Do the same for the kinds that are no `Report` yet."""
    write = _compare if (folder / "compare.json").is_file() else _sweep
    page, charts = write(folder)
    if images is None:
        return [page]
    from reports.charts import write_images
    from reports.files import make_folder

    make_folder(folder / "charts")
    return [page, *write_images(charts(), folder / "charts", images)]


def _sweep(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Write the page of a sweep; return where it is, and what makes its charts."""
    from reports.artifacts.writing import read_artifacts, write_page
    from reports.charts import build_charts
    from reports.page.across import across_charts
    from reports.results.comparison import compare

    cells, manifest = read_artifacts(folder)
    write_page(folder, cells, manifest)
    return folder / "report.html", lambda: {
        **build_charts(cells, manifest),
        **across_charts(compare(cells, manifest)),
    }


def _compare(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Do the same for two runs or two sweeps."""
    from reports.compare.charts import comparison_charts
    from reports.compare.stored import PAGE, read_comparison, two_runs, write_comparison

    kept = read_comparison(folder)
    write_comparison(folder, kept)
    return folder / PAGE, lambda: comparison_charts(two_runs(kept))
