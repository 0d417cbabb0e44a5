"""The table of all points."""

from __future__ import annotations

from dataclasses import dataclass

from reports.charts.bars import explained, verdict_word
from reports.charts.theme import second_unit
from reports.page.tables import short
from reports.results.points import Point, World
from reports.statistics import Estimate
from simulator.units import format_bytes, format_count, format_seconds


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what is shown, a second line in small type, and the number to sort by."""

    text: str
    note: str = ""
    key: str = ""


HEADINGS = (
    ("Policy", "the placer, and whatever else varies"),
    ("Capacity", "byte budget of KV and checkpoints"),
    ("Token hit rate", "saved tokens / prompt tokens, summed over replications"),
    ("Against the baseline", "at the same capacity, in percentage points"),
    ("Mean TTFT", "time to first token"),
    ("TTFT against the baseline", "mean TTFT less that of the baseline at the same capacity"),
    ("P99 TTFT", "n/a from fewer than 368 requests"),
    ("Of the best possible", "saved tokens / the most that any policy could save"),
    ("Realised bytes", "mean over time, and peak"),
    ("Checkpoints", "peak bytes, and peak count"),
    ("Stranded KV", "mean bytes of KV beyond the resume point"),
    ("Requests", "finished / all, rejected and unfinished included"),
    ("Cells", "finished / all replications"),
)


def table(world: World, most: int) -> tuple[list[list[Cell]], int]:
    """Return a row for each point in the order of the study, and how many are left out.

    Of more than `most`, those at the focus stay first.
    """
    keys = [(s.name, c) for s in world.series for c in world.capacities]
    keys = [key for key in keys if key in world.points]
    kept = set(sorted(keys, key=lambda key: key[1] != world.focus)[:most])
    rows = [_row(world, world.points[key]) for key in keys if key in kept]
    return rows, len(keys) - len(rows)


def _row(world: World, point: Point) -> list[Cell]:
    head = [
        Cell(point.series.name, ", ".join(point.series.marks), point.series.name),
        Cell(point.capacity, "", str(world.capacities.index(point.capacity))),
    ]
    cells = f"{len(point.rows)} / {len(point.rows) + point.failed}"
    if not point.rows:
        empty = [Cell("failed", "", "")] + [Cell("n/a")] * (len(HEADINGS) - 4)
        return [*head, *empty, Cell(cells, "", "0")]
    return [*head, *_figures(point), Cell(cells, "", str(len(point.rows)))]


def _figures(point: Point) -> list[Cell]:
    rate, ttft = point.token_hit_rate, point.ttft_seconds
    saved, prompts = point.total("saved_tokens"), point.total("prompt_tokens")
    finished, total = point.total("requests_finished"), point.total("requests_total")
    hit = Cell("n/a", "no prompt tokens")
    if rate:
        of = f"{format_count(saved)} / {format_count(prompts)}"
        hit = Cell(f"{100 * point.share('saved_tokens'):.1f} %", of, _key(rate.value))
    return [
        hit,
        _difference(point.token_hit_rate_difference, 0.01, "pt"),
        _seconds(ttft.value if ttft else None),
        _seconds_difference(point.ttft_difference),
        _seconds(point.mean("ttft_p99_seconds"), "n < 368"),
        _of_the_best(point),
        _bytes(point.mean("cache_mean_bytes"), f"peak {_size(point.mean('cache_peak_bytes'))}"),
        _bytes(point.mean("checkpoints_peak_bytes"), _count(point.mean("checkpoints_peak_count"))),
        _bytes(point.mean("kv_stranded_bytes_mean")),
        Cell(f"{format_count(finished)} / {format_count(total)}", _unserved(point), str(finished)),
    ]


def _difference(estimate: Estimate | None, size: float, unit: str) -> Cell:
    if estimate is None:
        return Cell("\N{EN DASH}")
    value, _, interval = explained(estimate, size, unit).partition(" [")
    told = f"[{interval}{verdict_word(estimate)}" if interval else ""
    return Cell(value, told, _key(estimate.value))


def _of_the_best(point: Point) -> Cell:
    share, bound = point.share_of_bound, point.bound_tokens
    if share is None or bound is None:
        return Cell("\N{EN DASH}")
    return Cell(f"{100 * share:.1f} %", f"of {format_count(bound)}", _key(share))


def _seconds_difference(estimate: Estimate | None) -> Cell:
    unit, size = second_unit([estimate.value]) if estimate else ("s", 1.0)
    return _difference(estimate, size, unit)


def _seconds(value: float | None, note: str = "") -> Cell:
    return Cell("n/a", note) if value is None else Cell(format_seconds(value), "", _key(value))


def _bytes(value: float | None, note: str = "") -> Cell:
    return Cell("n/a") if value is None else Cell(format_bytes(value), note, _key(value))


def _key(value: float) -> str:
    return str(short(value))


def _size(value: float | None) -> str:
    return "n/a" if value is None else format_bytes(value)


def _count(value: float | None) -> str:
    return "" if value is None else f"{format_count(value)} states"


def _unserved(point: Point) -> str:
    names = ("rejected", "unfinished")
    counts = {name: point.total(f"requests_{name}") for name in names}
    return ", ".join(f"{format_count(n)} {name}" for name, n in counts.items() if n)
