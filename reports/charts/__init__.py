"""The charts of a study: one dict of named charts for pages and for images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from reports.charts.bars import differences, losses
from reports.charts.course import losses_over_time, rate_over_time
from reports.charts.lines import capacity_curve, pareto
from reports.charts.lint import checked
from reports.charts.occupancy import most_held, occupancy
from reports.charts.positions import distances, distances_by_label, kinds_stored, storing
from reports.charts.theme import CONFIG
from reports.results.comparison import compare
from reports.results.points import MOST_SERIES, WorldPoints
from simulator.base.files import whole_file

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
    "positions": "Where states are stored",
    "positions_from_start": "States stored, by tokens from the start",
    "positions_from_end": "States stored, by tokens from the end of the prompt",
    "positions_from_branch": "States stored, by tokens from where the prompt diverges",
    "positions_by_label": "States stored, by tokens from where the prompt diverges and by label",
    "rate_over_time": "Token hit rate over time",
    "losses_over_time": "What became of the prompt tokens over time",
    "losses_over_time_baseline": "What became of the prompt tokens over time",
    "occupancy": "Bytes held over time",
    "occupancy_baseline": "Bytes held over time",
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


def world_charts(world: WorldPoints, followed: int = MOST_SERIES) -> dict[str, Drawing]:
    """Return the charts of one world by name, of the series that it shows, not yet checked.

    `followed` is of how many of them the losses and the bytes over time can be drawn.
    """
    with debug_mode(arg=False):  # a chart is validated once, when it is checked
        return _world_charts(world.shown, followed)


def _world_charts(world: WorldPoints, followed: int) -> dict[str, Drawing]:
    charts = {
        "pareto_savings": pareto(world, "token_hit_rate"),
        "pareto_ttft": pareto(world, "ttft_seconds"),
        "difference_hit_rate": differences(world, "token_hit_rate"),
        "difference_ttft": differences(world, "ttft_seconds"),
        "capacity_curve": capacity_curve(world),
        "losses": losses(world),
        **_positions(world, max(followed, 2)),
        "rate_over_time": rate_over_time(world),
        **_followed(world, followed),
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


def _followed(world: WorldPoints, most: int) -> dict[str, Any]:
    """Return losses and bytes over time of the best point and of its baseline, on one scale."""
    best = world.best
    if best is None:
        return {}
    theirs = world.baseline_of(best)
    others = [p for p in world.at(world.focus) if p is not best and p is not theirs]
    points = [best, *([theirs] if theirs else []), *others][: max(most, 2)]
    held, warmed = most_held(points), world.warmed
    charts = {
        "losses_over_time": losses_over_time(points, warmed=warmed),
        "occupancy": occupancy(points, held, warmed=warmed),
    }
    if theirs:
        charts["losses_over_time_baseline"] = losses_over_time([theirs], warmed=warmed)
        charts["occupancy_baseline"] = occupancy([theirs], held, warmed=warmed)
    return {name: charts[name] for name in TITLES if name in charts}


def _positions(world: WorldPoints, most: int) -> dict[str, Any]:
    """Return where policies store states, of so many of them how far from each point."""
    points = storing(world)
    best = [point for point in points if point is world.best]
    return {
        "positions": kinds_stored(world),
        "positions_from_start": distances(world, "start", most),
        "positions_from_end": distances(world, "end", most),
        "positions_from_branch": distances(world, "branch", most),
        "positions_by_label": distances_by_label(world, [*best, *points][:most]),
    }


def _finished(chart: Drawing, title: str) -> Drawing:
    chart.title = title
    chart.config = alt.Config(**CONFIG)
    return chart


def _title(name: str, world: WorldPoints) -> str:
    """Return the title of an image, which stands alone."""
    everywhere = {"pareto_savings", "pareto_ttft", "capacity_curve"}
    title = (
        TITLES[name] + _whose(name, world) + ("" if name in everywhere else f" at {world.place}")
    )
    return f"{title} ({world.name})" if world.name else title


def _whose(name: str, world: WorldPoints) -> str:
    """Return the policy that a chart is of, or is compared with; empty for a chart of all."""
    if name.startswith("difference"):
        return f" less that of {world.baseline_name},"
    if name.startswith(("losses_over", "occupancy", "positions_by")) and world.best:
        best = world.best.series.name
        return f", {world.baseline[best] if name.endswith('baseline') else best},"
    return ""
