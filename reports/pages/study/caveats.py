"""Caveats of a study: facts that limit how far its figures can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.caveats import (
    LostToRandom,
    budgeted,
    corrected,
    extrapolated,
    intervals,
    looking_ahead,
    lost_to_random,
    not_served,
    overloaded,
    profile_caveats,
    trace_caveats,
    warmup,
)
from reports.results.comparison import differences
from reports.results.margins import Margins
from reports.results.points import Point, WorldPoints
from reports.words import sentence

MOST_FAILED = 5
NEW_STATES = "checkpoints_mean_per_request"


def study_caveats(worlds: Sequence[WorldPoints], manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield one sentence for each fact that limits how far the figures can be trusted."""
    points = [point for world in worlds for point in world.points.values()]
    profile = manifest.get("profile", {})
    yield from _failures(points, manifest)
    yield from _evidence(points, manifest)
    yield from corrected(
        sum(each is not None and each.tested for each in differences(worlds)),
        worlds[0].margins if worlds else Margins(),
    )
    yield from warmup(manifest.get("warmup_share") or 0, manifest.get("warmup_auto"))
    for world in worlds:
        if not _capped(manifest):
            yield from budgeted(_budgets(world))
        yield from lost_to_random([*_losses_to_random(world)])
    yield from not_served(*(_total(points, f"requests_{n}") for n in ("rejected", "unfinished")))
    yield from _overloaded(worlds)
    for note in manifest.get("capacity_notes", []):
        yield sentence(note)
    yield from _traces(manifest)
    yield from profile_caveats(profile)
    served = _total(points, "requests_total")
    yield from extrapolated(_total(points, "extrapolated_requests"), profile, served)
    yield from looking_ahead(
        {series.name: series.marks for world in worlds for series in world.series},
        bounded=any(point.bound_tokens for point in points),
    )
    yield "Decode is not simulated: time to first token is wait, restore, prefill and capture."


def _total(points: Sequence[Point], metric: str) -> int:
    return sum(point.total(metric) for point in points)


def _failures(points: Sequence[Point], manifest: Mapping[str, Any]) -> Iterator[str]:
    failed = sum(point.failed for point in points)
    if not failed:
        return
    everything = failed + sum(len(point.rows) for point in points)
    errors = dict.fromkeys(str(item.get("error")) for item in manifest.get("failed", []))
    shown = "; ".join([*errors][:MOST_FAILED])
    reasons = f" ({shown})" if shown else ""
    yield f"{failed} of {everything} cells failed and are missing from every number{reasons}."


def _evidence(points: Sequence[Point], manifest: Mapping[str, Any]) -> Iterator[str]:
    estimates = [point.token_hit_rate for point in points if point.token_hit_rate]
    yield from intervals({each.method for each in estimates}, manifest.get("replications", 1))
    wanted = manifest.get("until_ci")
    if wanted and not wanted["reached"]:
        yield (
            f"Intervals were asked to be within {100 * wanted['share']:g} %; the widest still was "
            "not when the most replications were reached."
        )
    if any(each.method == "none" for each in estimates):
        reasons = [each.reason for each in estimates if each.reason]
        reason = reasons[0] if reasons else "one short replay is too short to tell"
        yield f"Some figures have no interval: {reason}."


def _capped(manifest: Mapping[str, Any]) -> bool:
    """Tell whether the study bounds the states that are resident for a prefix, or varies that."""
    study = manifest.get("study", {})
    keys = ("kind", "states_per_prefix")
    cache, grid = study.get("cache", {}), study.get("grid", {})
    return any(key in cache or f"cache.{key}" in grid for key in keys)


def _budgets(world: WorldPoints) -> dict[str, float]:
    """Return the new states a request of the placers that have a budget, at the focus."""
    points = (point for point in world.at(world.focus) if "budget=" in point.series.placer)
    states = {point.series.name: point.mean(NEW_STATES) for point in points}
    return {name: count for name, count in states.items() if count is not None}


def _losses_to_random(world: WorldPoints) -> Iterator[LostToRandom]:
    """Yield the placers with a budget that `random` beats at the focus with no more new states."""
    points = [point for point in world.at(world.focus) if "budget=" in point.series.placer]
    draws = [point for point in points if point.series.placer.startswith("random:")]
    for point in points:
        for drawn in draws:
            states, drawn_states = point.mean(NEW_STATES), drawn.mean(NEW_STATES)
            if point in draws or states is None or drawn_states is None or drawn_states > states:
                continue
            more = drawn.less(point, "token_hit_rate")
            if more is not None and more.low is not None and more.high is not None and more.low > 0:
                interval = (100 * more.value, 100 * more.low, 100 * more.high)
                names = (point.series.name, drawn.series.name)
                yield LostToRandom(*names, *interval, states, drawn_states)
                break


def _overloaded(worlds: Sequence[WorldPoints]) -> Iterator[str]:
    """Yield a sentence on the points at which more work arrives than the server can do."""
    behind = [
        f"{point.series.name} at {point.capacity}" + (f" on {world.name}" if world.name else "")
        for world in worlds
        for point in world.points.values()
        if point.total("queue_grows")
    ]
    every = sum(bool(point.rows) for world in worlds for point in world.points.values())
    yield from overloaded(behind, every)


def _traces(manifest: Mapping[str, Any]) -> Iterator[str]:
    several = manifest.get("workloads")
    if not several:
        yield from trace_caveats(manifest.get("trace", {}))
    for name, trace in (several or {}).items():
        yield from (
            text if text.startswith(name) else f"{name}: {text}"
            for text in trace_caveats(trace, name)
        )
