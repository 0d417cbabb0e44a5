"""The table of all points of a world; a point is one series (policy) at one capacity."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policies.pools import POOLS
from reports.charts.bars import explained, split_pools, verdict_word
from reports.charts.theme import second_unit
from reports.report import Heading, Table, TableCell
from reports.report.packing import short
from reports.results.metrics import load_of_row
from reports.results.overload import busy
from reports.results.points import Point, WorldPoints
from reports.results.pools import pool_words
from reports.statistics import Estimate
from reports.words import known
from simulator.base.units import format_bytes, format_count, format_seconds
from simulator.results.percentiles import USUAL, level_of, too_few

_PERCENTILE = re.compile(r"ttft_(p[0-9.]+)_seconds")

HEADINGS = (
    Heading("Policy", "the placer, and whatever else varies"),
    Heading("Capacity", "byte budget of KV and checkpoints"),
    Heading("Token hit rate", "saved tokens / prompt tokens, summed over replications"),
    Heading("Against the baseline", "at the same capacity, in percentage points"),
    Heading("Mean TTFT", "time to first token"),
    Heading(
        "TTFT against the baseline", "mean TTFT less that of the baseline at the same capacity"
    ),
    Heading("P99 TTFT", "n/a from fewer than 368 requests"),
    Heading(
        "Server busy",
        "share of the time from the first to the last arrival; offered load: seconds of work that "
        "arrive per second, as it was and if nothing were saved",
    ),
    Heading("Of the best possible", "saved tokens / the most that any policy could save"),
    Heading("Realised bytes", "mean over time, and peak"),
    Heading("Checkpoints", "peak bytes, and peak count"),
    Heading("New states", "stored a request, and the prompt tokens saved for each of them"),
    Heading("Stranded KV", "mean bytes of KV beyond the resume point"),
    Heading("Requests", "finished / all, rejected and unfinished included"),
    Heading("Cells", "finished / all replications"),
)

MOST_PLAIN = 60  # rows shown at once; a longer table first shows those at the focus capacity
TOO_FEW = "n/a from too few requests to tell it"
OF_POOLS = "mean peak of its capacity, and what left it, over the whole run"


def headings(tails: Sequence[str], pools: Sequence[str]) -> tuple[Heading, ...]:
    """Return the headings, with columns for further percentiles and for split pools."""
    after = {
        "Against the baseline": [Heading(f"Pool {pool}", OF_POOLS) for pool in pools],
        "P99 TTFT": [Heading(f"{name.upper()} TTFT", TOO_FEW) for name in tails],
    }
    return tuple(each for heading in HEADINGS for each in (heading, *after.get(heading.text, ())))


def further_percentiles(world: WorldPoints) -> list[str]:
    """Return the percentiles that cells have besides the usual ones, ascending."""
    columns = {name for point in world.points.values() for row in point.rows[:1] for name in row}
    matches = (_PERCENTILE.fullmatch(name) for name in columns)
    return sorted({match[1] for match in matches if match} - {*USUAL}, key=level_of)


def cells_table(world: WorldPoints, id: str, most: int) -> Table:
    """Return a table with a row for each point (series at a capacity), in the study's order.

    With more than `most` rows, those at the focus (the capacity that the answer is about) come
    first, and a page leaves out the last ones.
    """
    keys = [(s.name, c) for s in world.series for c in world.capacities]
    keys = [key for key in keys if key in world.points]
    kept = set(sorted(keys, key=lambda key: key[1] != world.focus)[:most])
    keys = [*filter(kept.__contains__, keys), *(key for key in keys if key not in kept)]
    tails = further_percentiles(world)
    pools = POOLS if split_pools(world.points.values()) else ()
    filtered = len(world.capacities) > 1 and min(len(keys), most) > MOST_PLAIN
    return Table(
        title="All cells",
        id=f"{id}-table",
        head=headings(tails, pools),
        rows=[_row(world, world.points[key], tails, pools) for key in keys],
        most=most,
        rest="cells.parquet",
        choices=world.capacities if filtered else (),
        focus=world.focus,
        on_terminal=False,
    )


def _row(
    world: WorldPoints, point: Point, tails: Sequence[str], pools: Sequence[str]
) -> list[TableCell]:
    head = [
        TableCell(point.series.name, ", ".join(point.series.marks), point.series.name),
        TableCell(point.capacity, "", str(world.capacities.index(point.capacity))),
    ]
    cells = f"{len(point.rows)} / {len(point.rows) + point.failed}"
    if not point.rows:
        more = len(tails) + len(pools)
        empty = [TableCell("failed", "", "")] + [TableCell("n/a")] * (len(HEADINGS) + more - 4)
        return [*head, *empty, TableCell(cells, "", "0")]
    return [*head, *_figures(point, tails, pools), TableCell(cells, "", str(len(point.rows)))]


def _figures(point: Point, tails: Sequence[str], pools: Sequence[str]) -> list[TableCell]:
    rate, ttft = point.token_hit_rate, point.ttft_seconds
    saved, prompts = point.total("saved_tokens"), point.total("prompt_tokens")
    finished, total = point.total("requests_finished"), point.total("requests_total")
    states = point.mean("checkpoints_peak_count")
    hit = TableCell("n/a", "no prompt tokens")
    peak = known(point.mean("cache_peak_bytes"), format_bytes)
    if rate:
        of = f"{format_count(saved)} / {format_count(prompts)}"
        hit = TableCell(f"{100 * point.share('saved_tokens'):.1f} %", of, _key(rate.value))
    return [
        hit,
        _difference(point.token_hit_rate_difference, 0.01, "pt"),
        *(_pool(point, pool) for pool in pools),
        _seconds(ttft.value if ttft else None),
        _seconds_difference(point.ttft_difference),
        *(_seconds(point.mean(f"ttft_{p}_seconds"), too_few(p)) for p in ("p99", *tails)),
        _server(point),
        _of_the_best(point),
        _bytes(point.mean("cache_mean_bytes"), f"peak {peak}"),
        _bytes(
            point.mean("checkpoints_peak_bytes"),
            "" if states is None else f"{format_count(states)} states",
        ),
        _new_states(point),
        _bytes(point.mean("kv_stranded_bytes_mean")),
        TableCell(
            f"{format_count(finished)} / {format_count(total)}", _unserved(point), str(finished)
        ),
    ]


def _new_states(point: Point) -> TableCell:
    """Return the states stored a request, with the tokens saved for each."""
    states, written = point.mean("checkpoints_mean_per_request"), point.total("checkpoints_written")
    if states is None:
        return TableCell("n/a")
    each = f"{format_count(point.total('saved_tokens') / written)} tokens each" if written else ""
    return TableCell(f"{states:.2f}", each, _key(states))


def _difference(estimate: Estimate | None, size: float, unit: str) -> TableCell:
    if estimate is None:
        return TableCell("\N{EN DASH}")
    value, _, interval = explained(estimate, size, unit).partition(" [")
    text = f"[{interval}{verdict_word(estimate)}" if interval else ""
    return TableCell(value, text, _key(estimate.value))


def _of_the_best(point: Point) -> TableCell:
    share, bound = point.share_of_bound, point.bound_tokens
    if share is None or bound is None:
        return TableCell("\N{EN DASH}")
    return TableCell(f"{100 * share:.1f} %", f"of {format_count(bound)}", _key(share))


def _server(point: Point) -> TableCell:
    """Return the load of the server; a dash for the instant server, which has none."""
    load = load_of_row(point.mean)
    share, own = load["utilisation"], load["offered_load"]
    if share is None or own is None:
        return TableCell("\N{EN DASH}")
    grows = "; its queue grows" if load["queue_grows"] else ""
    whole = load["offered_load_nothing_saved"]
    return TableCell(busy(load), f"load {own:.2f}, {whole:.2f} unsaved{grows}", _key(share))


def _pool(point: Point, pool: str) -> TableCell:
    """Return the bytes that a pool held and evicted; a dash where pools are not split."""
    words = pool_words(pool, lambda name: point.mean(f"pool_{pool}_{name}"))
    peak = point.mean(f"pool_{pool}_peak_bytes")
    return TableCell(*words, _key(peak)) if words and peak is not None else TableCell("\N{EN DASH}")


def _seconds_difference(estimate: Estimate | None) -> TableCell:
    unit, size = second_unit([estimate.value]) if estimate else ("s", 1.0)
    return _difference(estimate, size, unit)


def _seconds(value: float | None, note: str = "") -> TableCell:
    if value is None:
        return TableCell("n/a", note)
    return TableCell(format_seconds(value), "", _key(value))


def _bytes(value: float | None, note: str = "") -> TableCell:
    return TableCell("n/a") if value is None else TableCell(format_bytes(value), note, _key(value))


def _key(value: float) -> str:
    return str(short(value))


def _unserved(point: Point) -> str:
    names = ("rejected", "unfinished")
    counts = {name: point.total(f"requests_{name}") for name in names}
    return ", ".join(f"{format_count(n)} {name}" for name, n in counts.items() if n)
