"""`differences.json`: every comparison of a study, its ranks and the room up to foresight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from reports.cross_workload.overview import Overview, Taken
from reports.cross_workload.ranking import Ranking
from reports.cross_workload.sentences import sentences
from reports.results.margins import Margins
from reports.results.points import Point, WorldPoints
from reports.statistics import Estimate

SCHEMA_VERSION = 2  # since verdicts are better, worse, tied within a margin, unsure
FILE = "differences.json"


def as_json(
    worlds: Sequence[WorldPoints], overview: Overview, answers: Sequence[str] = ()
) -> dict[str, Any]:
    """Return everything as plain values: shares of 1, seconds, ranks from 1."""
    return {
        "schema_version": SCHEMA_VERSION,
        "sentences": [*answers, *sentences(overview, worlds)],
        "comparisons_corrected_for": overview.comparisons,
        "margins": asdict(worlds[0].margins if worlds else Margins()),
        "differences": [row for world in worlds for row in _differences(world)],
        "rankings": [_ranking(each) for each in overview.rankings],
        "room": [_taken(each) for each in overview.taken],
    }


def _differences(world: WorldPoints) -> Iterator[dict[str, Any]]:
    for point in world.points.values():
        base = world.baseline_of(point)
        if base is not None:
            yield _row(world, point, base, "token_hit_rate", point.token_hit_rate_difference)
            yield _row(world, point, base, "mean_ttft_seconds", point.ttft_difference)
    for name, difference in world.behind.items():
        if world.best is not None:
            rival = world.points[name, world.focus]
            yield _row(world, world.best, rival, "token_hit_rate", difference)


def _row(
    world: WorldPoints, ours: Point, theirs: Point, metric: str, estimate: Estimate | None
) -> dict[str, Any]:
    return {
        "world": world.name,
        "capacity": ours.capacity,
        "policy": ours.series.name,
        "less": theirs.series.name,
        "metric": metric,
        **_estimate(estimate),
        "margin": estimate and estimate.margin.width,
        "p_value": estimate and estimate.p_value,
        "p_holm": estimate and estimate.p_holm,
        "verdict": "unknown" if estimate is None else estimate.verdict,
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any]:
    return {
        "value": estimate and estimate.value,
        "low": estimate and estimate.low,
        "high": estimate and estimate.high,
        "evidence": estimate and estimate.method,
        "count": estimate and estimate.count,
    }


def _ranking(ranking: Ranking) -> dict[str, Any]:
    return {
        "metric": ranking.metric,
        "places": ranking.places,
        "workloads": ranking.workloads,
        "pairs_corrected_for": ranking.pairs,
        "kendalls_w": ranking.agreement,
        "p_value": ranking.p_value,
        "left_out": list(ranking.left_out),
        "ranks": [
            {
                "policy": each.series.name,
                "rank": each.rank,
                "low": each.low,
                "high": each.high,
                "by_world": each.by_world,
            }
            for each in ranking.ranked
        ],
    }


def _taken(taken: Taken) -> dict[str, Any]:
    return {
        **asdict(taken),
        "room": _estimate(taken.room),
        "share": None if taken.share is None else _estimate(taken.share),
    }
