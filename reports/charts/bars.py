"""Bar charts at the focus: differences from the baseline, and fates of the prompt tokens.

The focus is the capacity that the answer is about. A fate is what became of a prompt token: saved,
or lost for one reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from reports.charts.rows import IntervalRow, intervals, stacked
from reports.charts.theme import second_unit
from reports.palette import FATES, GREY
from reports.results.pools import LOSS_POOLS
from reports.statistics import CLAIMS
from simulator.base.units import format_count
from simulator.results.records import LOSSES

if TYPE_CHECKING:
    from reports.results.points import Point, WorldPoints
    from reports.statistics import Estimate

MOST_DIFFERENCES = 12
MOST_MARKED = 2


@dataclass(frozen=True, slots=True)
class Fate:
    """Outcome of a prompt token (saved, or lost for one reason), with its meaning."""

    key: str
    name: str
    meaning: str

    @property
    def column(self) -> str:
        """The column of a cell that counts the tokens with this fate.

        The counts by block of requests are in the column of this name with the prefix "block_".
        """
        return "saved_tokens" if self.key == "saved" else f"lost_{self.key}_tokens"

    @property
    def colour(self) -> str:
        """The colour of this fate in all charts."""
        return FATES.get(self.key, GREY)


_MEANINGS = {
    "saved": ("saved", "resumed from a checkpoint: not computed again"),
    "never_seen": ("never seen", "no earlier prompt shared these tokens: no cache can save them"),
    "last_token": ("last token", "the last prompt token is always computed, for its logits"),
    "in_flight": ("in flight", "the prompt that shares them was still being prefilled"),
    "not_admitted": ("not admitted", "the admission policy did not let their KV in"),
    "kv_evicted": ("KV evicted", "their KV had been evicted"),
    "not_checkpointed": ("never checkpointed", "no state was ever stored deep enough"),
    "alignment": ("alignment", "a state was wanted there, but only coarser positions can be kept"),
    "state_evicted": ("state evicted", "a deeper checkpoint had existed and was evicted"),
    "not_served": ("not served", "the request was rejected or did not finish"),
}
FATES_IN_ORDER = tuple(
    Fate(key, *_MEANINGS.get(key, (key.replace("_", " "), ""))) for key in ("saved", *LOSSES)
)


def split_pools(points: Iterable[Point]) -> bool:
    """Return whether KV and states have separate pools in any of the points."""
    rows = (row for point in points for row in point.rows[:1])
    return any(row.get("pool_states_peak_bytes") is not None for row in rows)


def fates_of(points: Iterable[Point]) -> list[Fate]:
    """Return all fates of prompt tokens; where pools are split, evictions name their pool."""
    pools = LOSS_POOLS if split_pools(points) else {}
    return [
        replace(fate, name=f"{fate.name} (pool {pools[fate.key]})") if fate.key in pools else fate
        for fate in FATES_IN_ORDER
    ]


def occurring(points: Sequence[Point]) -> list[Fate]:
    """Return the fates that at least one prompt token of the points has."""
    return [fate for fate in fates_of(points) if any(p.total(fate.column) for p in points)]


def differences(
    world: WorldPoints, metric: Literal["token_hit_rate", "ttft_seconds"]
) -> alt.LayerChart | None:
    """Draw paired differences from the baseline, with intervals, at the focus.

    The focus is the capacity that the answer is about. Differences that are neither better nor
    worse are grey. Of many points, only those that `leading` returns are drawn.
    """
    pairs = leading(differences_at_focus(world, metric))
    if not pairs:
        return None
    unit, size, title = _unit(metric, [estimate.value for _, estimate in pairs])
    rows = [
        IntervalRow.of(
            (point.series.name, point.series.label),
            (estimate.value, estimate.low, estimate.high),
            size,
            explained(estimate, size, unit) + verdict_word(estimate),
            world.looks[point.series.name].colour
            if estimate.verdict in (*CLAIMS, "unknown")
            else GREY,
        )
        for point, estimate in pairs
    ]
    return intervals(rows, title, zero=0.0)


def losses(world: WorldPoints) -> alt.LayerChart | None:
    """Draw the shares of prompt tokens that were saved or lost, by reason.

    Each policy has a bar, at the focus: the capacity that the answer is about.
    """
    points = [point for point in world.at(world.focus) if point.total("prompt_tokens")]
    if not points:
        return None
    fates = fates_of(points)
    rows = [row for index, point in enumerate(points) for row in _fate_rows(index, point, fates)]
    colours = {fate.name: fate.colour for fate in occurring(points)}
    shown = {"fate": "tokens", "meaning": "meaning", "tokens": "share"}
    return stacked(rows, "fate", colours, "Share of prompt tokens", 5, **shown)


def explained(estimate: Estimate, size: float, unit: str) -> str:
    """Return a difference as text, with its interval if any: "+12.3 points [11.0, 13.4]"."""
    ends = [end / size for end in (estimate.low, estimate.high) if end is not None]
    digits = 1 if max(map(abs, [estimate.value / size, *ends])) >= 1 else 2
    value = f"{estimate.value / size:+.{digits}f} {unit}"
    interval = f" [{', '.join(f'{end:.{digits}f}' for end in ends)}]" if ends else ""
    return (value + interval).replace("-", "\N{MINUS SIGN}")


def verdict_word(estimate: Estimate) -> str:
    """Return " better", " tied" and so on; an empty text where there is no interval."""
    return "" if estimate.verdict == "unknown" else f" {estimate.verdict}"


def leading(pairs: Sequence[tuple[Point, Estimate]]) -> list[tuple[Point, Estimate]]:
    """Return the first `MOST_DIFFERENCES` pairs, at most `MOST_MARKED` of which are marked.

    Bounds and policies that look ahead are marked: they cannot be deployed.
    """
    if len(pairs) <= MOST_DIFFERENCES:
        return list(pairs)
    marked = [pair for pair in pairs if pair[0].series.marks][:MOST_MARKED]
    fair = [pair for pair in pairs if not pair[0].series.marks]
    kept = {p.series.name for p, _ in [*marked, *fair[: MOST_DIFFERENCES - len(marked)]]}
    return [pair for pair in pairs if pair[0].series.name in kept]


def differences_at_focus(world: WorldPoints, metric: str) -> list[tuple[Point, Estimate]]:
    """Return points at the focus capacity with their differences from the baseline, best first."""
    name = "ttft_difference" if metric == "ttft_seconds" else "token_hit_rate_difference"
    points = [(point, getattr(point, name)) for point in world.at(world.focus)]
    pairs = [(point, estimate) for point, estimate in points if estimate is not None]
    sign = 1 if metric == "ttft_seconds" else -1
    return sorted(pairs, key=lambda pair: sign * pair[1].value)


def _unit(metric: str, values: Sequence[float]) -> tuple[str, float, str]:
    """Return the unit of a difference, the size of the unit and the title of the axis."""
    if metric == "token_hit_rate":
        return "pt", 0.01, "Percentage points; more is better"
    name, size = second_unit(values)
    return name, size, f"Mean TTFT ({name}); less is better"


def _fate_rows(index: int, point: Point, fates: Sequence[Fate]) -> Iterator[dict[str, Any]]:
    whole = format_count(point.total("prompt_tokens"))
    for rank, fate in enumerate(fates):
        share = point.share(fate.column)
        yield {
            "row": index,
            "series": point.series.name,
            "label": point.series.label,
            "rank": rank,
            "fate": fate.name,
            "meaning": fate.meaning,
            "share": share,
            "told": f"{100 * share:.1f} % saved",
            "tokens": f"{100 * share:.1f} % ({format_count(point.total(fate.column))} of {whole})",
        }
