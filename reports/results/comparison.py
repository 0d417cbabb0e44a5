"""Groups of a study's cells (simulations), with their differences from the baseline.

Cells are grouped into worlds (workload, profile and server), series (combinations of policies) and
points (a series at one capacity). The p-values of all differences in a study are adjusted together
by Holm's method. These are the differences of each point from its baseline, in token hit rate and
TTFT, and of the best point of each world from its rivals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from policies.joint import names_of
from reports.results.evidence import Row, estimate, finished
from reports.results.margins import Margins
from reports.results.marks import POLICIES, marks_in
from reports.results.points import UNBOUNDED, Point, Series, WorldPoints, looks_of
from reports.statistics import Estimate, corrected
from simulator.base.units import format_bytes

if TYPE_CHECKING:
    import polars as pl

_WORKLOADS = ("workload", "workload.trace", "workload.generator")
# Prefixes of settings that distinguish series.
_OF_SERIES = ("policy.", "cache.pools", "cache.kind", "cache.states_per_prefix")
_WORLDS = ("workload", "profile", "server")


def compare(cells: pl.DataFrame, manifest: Mapping[str, Any]) -> list[WorldPoints]:
    """Return the worlds of a study, in order of their first cells; empty without cells."""
    rows = cells.rows(named=True)
    policies, shared = _varying(rows, manifest)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_named(row, shared), []).append(row)
    varied = [key for key in shared if key.startswith("workload")]
    worlds = [_world(name, group, policies, varied, manifest) for name, group in groups.items()]
    styles = looks_of(list(dict.fromkeys(s for world in worlds for s in world.series)))
    return _corrected([replace(world, styles=styles) for world in worlds])


def differences(worlds: Sequence[WorldPoints]) -> Iterator[Estimate | None]:
    """Yield every difference estimated in the worlds, in a fixed order; None without one."""
    for world in worlds:
        for point in world.points.values():
            yield point.token_hit_rate_difference
            yield point.ttft_difference
        yield from world.behind.values()


def _named(row: Row, keys: Sequence[str]) -> str:
    """Return a name such as "rate 5, server queue"; a workload is given by name alone."""
    return ", ".join(
        str(row[key]) if key in _WORKLOADS else f"{key.rpartition('.')[2]} {row[key]}"
        for key in keys
    )


def _varying(rows: Sequence[Row], manifest: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the settings that vary besides placer and capacity: those of policies, and the rest.

    A setting that groups the cells exactly as an earlier one does (`policy.placer`, `placer`) is
    left out, unless it is a policy of its own.
    """
    known = {tuple(str(row.get(key)) for row in rows) for key in ("placer", "capacity_bytes")}
    grid = [key for key in manifest.get("grid", {}) if rows and key in rows[0]]
    policies: list[str] = []
    shared: list[str] = []
    for key in dict.fromkeys([*POLICIES[1:], *_WORLDS, *grid]):
        values = [str(row.get(key)) for row in rows]
        partition = {_ranks(column) for column in known}
        if len(set(values)) < 2 or (key not in POLICIES and _ranks(values) in partition):
            continue
        known.add(tuple(values))
        (policies if key in POLICIES or key.startswith(_OF_SERIES) else shared).append(key)
    return policies, shared


def _ranks(values: Sequence[str]) -> tuple[int, ...]:
    """Return each value's rank by first appearance; equal for columns with equal groups."""
    order: dict[str, int] = {}
    return tuple(order.setdefault(value, len(order)) for value in values)


def _corrected(worlds: Sequence[WorldPoints]) -> list[WorldPoints]:
    """Return the worlds with the p-values of all their differences adjusted together."""
    made = list(differences(worlds))
    estimates = iter(corrected(made))
    tested = sum(each is not None and each.tested for each in made)
    return [replace(_with_differences(world, estimates), comparisons=tested) for world in worlds]


def _with_differences(world: WorldPoints, estimates: Iterator[Estimate | None]) -> WorldPoints:
    """Return a world with its differences replaced by `estimates`, in the same order."""
    points = {
        key: replace(
            point, token_hit_rate_difference=next(estimates), ttft_difference=next(estimates)
        )
        for key, point in world.points.items()
    }
    behind = {name: next(estimates) or was for name, was in world.behind.items()}
    return replace(world, points=points, behind=behind)


def _world(
    name: str,
    rows: Sequence[Row],
    policies: Sequence[str],
    varied: Sequence[str],
    manifest: Mapping[str, Any],
) -> WorldPoints:
    sizes = sorted({row["capacity_bytes"] for row in rows}, key=lambda c: (c is None, c or 0))
    labels = dict(zip(sizes, _capacity_labels(sizes), strict=True))
    deterministic = bool(manifest.get("trace", {}).get("deterministic"))
    groups: dict[tuple[Series, str], list[Row]] = {}
    one_placer = len({row["placer"] for row in rows}) == 1
    for row in rows:
        series = _series(row, policies, one_placer=one_placer)
        groups.setdefault((series, labels[row["capacity_bytes"]]), []).append(row)
    points = {
        (series.name, capacity): _point(series, capacity, group, deterministic)
        for (series, capacity), group in groups.items()
    }
    order = tuple(dict.fromkeys(series for series, _ in groups))
    world = WorldPoints(
        name,
        order,
        tuple(labels.values()),
        points,
        _baselines(order, manifest.get("baseline")),
        workload=_named(rows[0], varied),
        warmed=bool(manifest.get("warmup_share") or manifest.get("warmup_auto")),
        margins=Margins.of(manifest.get("study") or {}),
    )
    world = replace(world, points=_compared(world))
    return replace(world, behind=_behind(world))


def _series(row: Row, policies: Sequence[str], *, one_placer: bool) -> Series:
    """Return the series of a row; its name omits a placer that all rows share.

    A policy that is placer, eviction and admission is named once.
    """
    others = tuple(str(row[key]) for key in policies)
    kinds = [kind for kind in POLICIES if kind in policies]
    rest = [str(row[key]) for key in policies if key not in POLICIES]
    shown = kinds if one_placer and others else ["placer", *kinds]
    return Series(" · ".join([*names_of(row, shown), *rest]), row["placer"], others, marks_in(row))


def _capacity_labels(sizes: Sequence[int | None]) -> list[str]:
    """Return a label such as "8 GiB" for each size, with the bytes added to equal labels."""
    short = [_short(format_bytes(size)) if size is not None else UNBOUNDED for size in sizes]
    return [
        f"{label} ({size:,} B)" if short.count(label) > 1 and size is not None else label
        for label, size in zip(short, sizes, strict=True)
    ]


def _short(size: str) -> str:
    number, space, unit = size.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def _point(series: Series, capacity: str, group: Sequence[Row], deterministic: bool) -> Point:
    rows = finished(group)
    return Point(
        series,
        capacity,
        rows,
        len(group) - len(rows),
        deterministic,
        estimate(rows, "token_hit_rate", deterministic),
        estimate(rows, "ttft_seconds", deterministic),
    )


def _baselines(series: Sequence[Series], placer: str | None) -> dict[str, str]:
    """Return the name of each series' baseline: the baseline placer with the same other policies.

    If only one placer was simulated, the first series is the baseline of all. Where policies do not
    vary apart, it is the series of the baseline placer that shares most of the others.
    """
    placers = list(dict.fromkeys(s.placer for s in series))
    wanted = placer if placer in placers else next((p for p in placers if p == "last"), placers[0])
    peers = [s for s in series if s.placer == wanted]
    if len(placers) == 1:
        return {s.name: series[0].name for s in series}
    return {s.name: s.name if s in peers else max(peers, key=s.shared).name for s in series}


def _compared(world: WorldPoints) -> dict[tuple[str, str], Point]:
    """Return the points with their differences from the baseline filled in."""
    points = dict(world.points)
    for key, point in world.points.items():
        theirs = world.baseline_of(point)
        if theirs:
            reference = theirs.ttft_seconds.value if theirs.ttft_seconds else 0.0
            rate, ttft = point.less(theirs, "token_hit_rate"), point.less(theirs, "ttft_seconds")
            points[key] = replace(
                point,
                token_hit_rate_difference=world.margins.rate(rate),
                ttft_difference=world.margins.time(ttft, reference),
            )
    return points


def _behind(world: WorldPoints) -> dict[str, Estimate]:
    """Return the differences of the best point from its rivals, by their names.

    Pairs of a point and its baseline are left out, because `_compared` covers them.
    """
    best = world.best
    if best is None:
        return {}
    rivals = [
        point
        for point in world.at(world.focus)
        if point is not best
        and world.baseline_of(best) is not point
        and world.baseline_of(point) is not best
    ]
    gaps = {
        rival.series.name: world.margins.rate(best.less(rival, "token_hit_rate"))
        for rival in rivals
    }
    return {name: gap for name, gap in gaps.items() if gap is not None}
