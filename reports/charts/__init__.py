"""The charts of a study: one dict of named charts for pages and for images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from reports.charts.bars import differences, losses
from reports.charts.lines import capacity_curve, pareto
from reports.charts.lint import checked
from reports.charts.occupancy import most_held, occupancy
from reports.charts.theme import CONFIG
from reports.comparison import compare
from reports.points import World
from simulator.files import whole_file

if TYPE_CHECKING:
    import polars as pl

Drawing = alt.Chart | alt.LayerChart

TITLES = {
    "pareto_savings": "Token hit rate against realised bytes",
    "pareto_ttft": "Mean time to first token against realised bytes",
    "difference_hit_rate": "Token hit rate",
    "difference_ttft": "Mean time to first token",
    "capacity_curve": "Token hit rate against capacity",
    "losses": "What became of the prompt tokens",
    "occupancy": "Bytes held over time",
    "occupancy_baseline": "Bytes held over time, baseline",
}


def build_charts(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> dict[str, Drawing]:
    """Return the charts of a study by name; those that have nothing to show are left out.

    Names are the keys of TITLES; from the second world (workload, profile, ...) on, `-2`, `-3`, ...
    are appended.

    Raises
    ------
    ValueError
        When a chart names a field that its data lacks, or does not fit into a page.
    """
    charts = {}
    for number, world in enumerate(compare(cells, manifest), start=1):
        suffix = "" if number == 1 else f"-{number}"
        charts.update({f"{name}{suffix}": c for name, c in world_charts(world).items()})
    for chart in charts.values():
        checked(chart)
    return charts


def world_charts(world: World) -> dict[str, Drawing]:
    """Return the charts of one world by name, of the series that it shows, not yet checked."""
    with debug_mode(arg=False):  # a chart is validated once, when it is checked
        return _world_charts(world.shown)


def _world_charts(world: World) -> dict[str, Drawing]:
    charts = {
        "pareto_savings": pareto(world, "token_hit_rate"),
        "pareto_ttft": pareto(world, "ttft_seconds"),
        "difference_hit_rate": differences(world, "token_hit_rate"),
        "difference_ttft": differences(world, "ttft_seconds"),
        "capacity_curve": capacity_curve(world),
        "losses": losses(world),
        **_occupancies(world),
    }
    return {
        name: _finished(chart, _title(name, world))
        for name, chart in charts.items()
        if chart is not None
    }


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


def _occupancies(world: World) -> dict[str, Any]:
    """Return the occupancy of the best point, and of its baseline on the same scale."""
    if world.best is None:
        return {}
    theirs = world.baseline_of(world.best)
    shown = {"occupancy": world.best} | ({"occupancy_baseline": theirs} if theirs else {})
    most = most_held(list(shown.values()))
    return {name: occupancy(point, most) for name, point in shown.items()}


def _finished(chart: Drawing, title: str) -> Drawing:
    chart.title = title
    chart.config = alt.Config(**CONFIG)
    return chart


def _title(name: str, world: World) -> str:
    """Return the title of an image, which stands alone."""
    everywhere = {"pareto_savings", "pareto_ttft", "capacity_curve"}
    less = f" less that of {world.baseline_name}," if name.startswith("difference") else ""
    title = TITLES[name] + less + ("" if name in everywhere else f" at {world.place}")
    return f"{title} ({world.name})" if world.name else title
