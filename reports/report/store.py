"""Reports in files: page, data and charts as images; each file is written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast, get_args

from altair import Config, vconcat

from reports.charts import write_images
from reports.charts.theme import CONFIG
from reports.files import make_folder, write_json
from reports.report.html import render
from reports.report.value import Report, plain
from simulator.base.errors import UsageError, printable
from simulator.base.files import write_text

ImageFormat = Literal["png", "svg", "pdf"]


def store(report: Report, folder: Path) -> Path:
    """Write page and data of a report into a folder; return the path of the page.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    make_folder(folder)
    documents = {report.data_file: dict(report.data)} if report.data_file else {}
    for name, document in {**documents, **report.files}.items():
        write_json(folder / name, document)
    return write_page(report, folder / report.page_file)


def write_page(report: Report, path: Path) -> Path:
    """Write the page of a report to a path; return the path. Errors are those of `store`."""
    write_text(path, render(report))
    return path


def write_to(report: Report, path: Path) -> Path:
    """Write a page (.html), or all charts in one image, one below the other (.png, .svg, .pdf).

    Raises
    ------
    UsageError
        For another suffix, or when the file cannot be written.
    """
    ending = path.suffix[1:]
    if ending in {"html", "htm"}:
        return write_page(report, path)
    if ending not in get_args(ImageFormat):
        known = ", ".join(f".{name}" for name in ("html", *get_args(ImageFormat)))
        found = printable(str(path))
        raise UsageError(f"--out: expected a name that ends in {known}, found '{found}'")
    image = vconcat(*_images(report).values()).resolve_scale(color="independent")
    image.config = Config(**CONFIG)
    return write_images({path.stem: image}, path.parent, cast(ImageFormat, ending))[0]


def store_images(report: Report, folder: Path, format: ImageFormat) -> list[Path]:
    """Write every chart as an image; return the paths. Errors are those of `store`."""
    charts = _images(report)
    for chart in charts.values():
        chart.config = Config(**CONFIG)
    make_folder(folder)
    return write_images(charts, folder, format)


def _images(report: Report) -> dict[str, Any]:
    """Return name of the image -> chart with its title."""
    return {
        panel.image or panel.id: panel.chart.properties(
            title=panel.image_title or plain(panel.title)
        )
        for panel in report.panels
    }
