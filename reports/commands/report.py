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
    """Write the page of `sweep`, `capacity`, `compare` or `drift` again; nothing is simulated."""
    page, charts = _kind(folder)(folder)
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


def _kind(folder: Path) -> Callable[[Path], tuple[Path, Callable[[], dict[str, Any]]]]:
    """Return what writes the page of a folder."""
    kinds = {
        "capacity.json": _capacity,
        "compare.json": _compare,
        "drift.json": _drift,
        "series.json": _drift,
    }
    return next((kinds[name] for name in kinds if (folder / name).is_file()), _sweep)


def _compare(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Do the same for two runs or two sweeps."""
    from reports.compare.charts import comparison_charts
    from reports.compare.stored import PAGE, read_comparison, two_runs, write_comparison

    kept = read_comparison(folder)
    write_comparison(folder, kept)
    return folder / PAGE, lambda: comparison_charts(two_runs(kept))


def _capacity(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Do the same for the least memory that meets a target."""
    from reports.capacity.charts import capacity_charts
    from reports.capacity.page import PAGE, read_capacity, write_capacity

    stored = read_capacity(folder)
    write_capacity(folder, stored)
    return folder / PAGE, lambda: capacity_charts(stored)


def _drift(folder: Path) -> tuple[Path, Callable[[], dict[str, Any]]]:
    """Do the same for a drift study."""
    from reports.drift.findings import find_all
    from reports.drift.images import titled_charts
    from reports.drift.sentences import answers
    from reports.drift.stored import PAGE, read_series, write_page

    study = read_series(folder)
    findings = find_all(study)
    write_page(folder, study, findings, answers(study, findings))
    return folder / PAGE, lambda: titled_charts(study, findings)
