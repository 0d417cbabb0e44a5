"""The figures of a sweep, by policies and capacity."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from reports.artifacts.writing import MOST_ANSWERS, read_artifacts
from reports.cross_workload.overview import overview_of
from reports.cross_workload.sentences import sentences
from reports.page.answer import answer_text
from reports.results.comparison import compare
from reports.results.points import Point, WorldPoints
from reports.statistics import Estimate
from studies.figures.parts import Figures


def worlds_of(folder: Path) -> list[WorldPoints]:
    """Return the worlds of a sweep that is over."""
    return compare(*read_artifacts(folder))


def sweep_figures(folder: Path) -> Figures:
    """Return the points of a sweep of one world, and how many comparisons it made."""
    (world,) = worlds = worlds_of(folder)
    overview = overview_of(worlds)
    return {
        "points": {s.name: _series(world, s.name) for s in world.series},
        "comparisons": overview.comparisons,
        "standing": overview.standing,
        "reasons": reasons(worlds),
    }


def sentences_of(folder: Path) -> list[str]:
    """Return what the sweep printed."""
    worlds = worlds_of(folder)
    answers = [answer_text(world) for world in worlds[:MOST_ANSWERS]]
    return [*answers, *sentences(overview_of(worlds), worlds)]


def reasons(worlds: list[WorldPoints]) -> list[str]:
    """Return why differences have no interval; none where all have one."""
    made = [p.token_hit_rate_difference for world in worlds for p in world.points.values()]
    return sorted({each.reason for each in made if each is not None and each.reason})


def estimate(difference: Estimate | None) -> dict[str, Any] | None:
    """Return a figure with its interval and what is said of it."""
    if difference is None:
        return None
    kept = {name: asdict(difference)[name] for name in ("value", "low", "high")}
    return kept | {"verdict": difference.verdict}


def less(ours: Point, theirs: Point) -> dict[str, Any] | None:
    """Return the difference of two token hit rates, not corrected for others."""
    return estimate(ours.less(theirs, "token_hit_rate"))


def _series(world: WorldPoints, name: str) -> Figures:
    return {c: _point(world.points[name, c]) for c in world.capacities}


def _point(point: Point) -> Figures:
    return {
        "rate": point.share("saved_tokens"),
        "difference": estimate(point.token_hit_rate_difference),
        "bytes": point.mean("cache_mean_bytes"),
        "peak_bytes": point.mean("cache_peak_bytes"),
        "written": point.mean("checkpoints_mean_per_request"),
    }
