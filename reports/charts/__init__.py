"""Charts of the pages, and their export as images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert

from reports.charts.lint import checked
from simulator.base.files import whole_file

Drawing = alt.Chart | alt.LayerChart


def write_images(
    charts: Mapping[str, Drawing],
    folder: Path,
    format: Literal["png", "svg", "pdf"],
) -> list[Path]:
    """Write each chart to `folder/NAME.FORMAT`, without any network, and return the paths.

    Raises
    ------
    UsageError
        When a file cannot be written; none is left half-written.
    """
    convert: Callable[[dict[str, Any]], bytes] = {
        "png": lambda spec: vl_convert.vegalite_to_png(spec, scale=2),
        "svg": lambda spec: vl_convert.vegalite_to_svg(spec).encode(),
        "pdf": vl_convert.vegalite_to_pdf,
    }[format]
    paths = []
    for name, chart in charts.items():
        paths.append(folder / f"{name}.{format}")
        with whole_file(paths[-1]) as temporary:
            temporary.write_bytes(convert(checked(chart)))
    return paths
