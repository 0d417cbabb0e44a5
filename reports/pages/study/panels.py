"""Panels of one world: each chart with its title and caption, and its title as an image.

A world is the workload, profile and server that the compared policies share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from altair.utils.schemapi import debug_mode

from reports.charts.bars import differences, differences_at_focus, leading, losses, occurring
from reports.charts.course import (
    KINDS,
    kinds_held,
    losses_over_time,
    most_held,
    occupancy,
    rate_over_time,
)
from reports.charts.lines import capacity_curve, pareto
from reports.charts.positions import (
    KIND_COLOURS,
    distances,
    distances_by_label,
    kinds_stored,
    stored_kinds,
    storing,
)
from reports.report import ChosenPolicy, Panel, Sentence
from reports.results.points import WorldPoints
from reports.words import capital

Swatches = tuple[tuple[str, str], ...]
OCTAVES = "A bar is an octave, named by its nearer end, as thick as its share of the states."
FLOORED = "Measured from that point as floored to where states may lie. "
POINTS = (  # points of the prompt: names on a page and on an image, and caption of the chart
    (
        "branch",
        "the branch",
        "where the prompt diverges",
        "Where the prompt left what had been prefilled before; its start, where it shares nothing. "
        + FLOORED,
    ),
    ("end", "the end of the prompt", "the end of the prompt", FLOORED),
    ("start", "the start", "the start", ""),
)
METRICS = {  # name -> metric, words; name, title and caption of its Pareto chart
    "hit_rate": (
        "token_hit_rate",
        "token hit rate",
        "pareto_savings",
        "Savings for the memory used",
        "Saved share of prompt tokens against the bytes really held, mean over time; one point a "
        "capacity. Up and left is better.",
    ),
    "ttft": (
        "ttft_seconds",
        "mean time to first token",
        "pareto_ttft",
        "Latency for the memory used",
        "Mean time to first token against the bytes really held. Down and left is better.",
    ),
}


class WorldPanels:
    """The panels of one world: the workload, profile and server that policies share.

    A chart without data has no panel.

    Parameters
    ----------
    number
        Index of the world in the study, from 0.
    world
        Its points; charts draw the series in `world.shown`.
    followed
        The number of series whose losses and bytes over time can be drawn.
    """

    def __init__(self, number: int, world: WorldPoints, followed: int) -> None:
        self._number, self._world, self._followed = number, world, max(followed, 2)
        self._best = world.best.series.name if world.best else ""
        self._theirs = world.baseline.get(self._best, self._best)
        focus = world.at(world.focus)
        self._fates = tuple((fate.name, fate.colour) for fate in occurring(focus))

    def savings(self) -> Iterator[Panel]:
        """Yield token hit rate and TTFT: against bytes, against the baseline, over capacity."""
        shown = self._world.shown
        for name, (metric, words, pareto_name, title, caption) in METRICS.items():
            image = f"{capital(words)} against realised bytes"
            drawn = lambda metric=metric: pareto(shown, metric)  # noqa: E731
            yield from self._panel(pareto_name, drawn, title, caption, image)
            yield from self._difference(name, metric, words)
        yield from self._panel(
            "capacity_curve",
            lambda: capacity_curve(shown),
            "What capacity buys",
            "Token hit rate at each capacity. More memory can lower it: most policies promise "
            "nothing else. Dotted: what no policy can exceed.",
            "Token hit rate against capacity",
        )

    def losses(self) -> Iterator[Panel]:
        """Yield the chart of how many prompt tokens were saved or lost, and why."""
        place = self._world.place
        yield from self._panel(
            "losses",
            lambda: losses(self._world.shown),
            f"Where the prompt tokens went at {place}",
            "Every prompt token is counted once, at the first cause that explains it.",
            f"What became of the prompt tokens at {place}",
            self._fates,
        )

    def positions(self) -> Iterator[Panel]:
        """Yield the charts of the positions at which policies store states."""
        shown, place, most = self._world.shown, self._world.place, self._followed
        points, stored = storing(shown), f"Where states are stored at {self._world.place}"
        yield from self._panel(
            "positions",
            lambda: kinds_stored(shown),
            stored,
            "The first that fits holds. “Where prompts diverge”: an earlier prompt had been seen "
            "to end or to diverge there, or this one did.",
            stored,
            tuple((kind, KIND_COLOURS[kind]) for kind in stored_kinds(points)),
        )
        for point, name, whence, caption in POINTS:
            yield from self._panel(
                f"positions_from_{point}",
                lambda point=point: distances(shown, point, most),
                f"From {name}",
                caption + OCTAVES,
                f"States stored, by tokens from {whence} at {place}",
            )
        best_first = sorted(points, key=lambda point: point is not shown.best)
        yield from self._panel(
            "positions_by_label",
            lambda: distances_by_label(shown, best_first[:most]),
            ("From the branch, by label, under ", ChosenPolicy(self._best)),
            "Labels that stored most states, first replication. " + FLOORED + OCTAVES,
            "States stored, by tokens from where the prompt diverges and by label, "
            f"{self._best} at {place}",
        )

    def rate_over_time(self) -> Iterator[Panel]:
        """Yield the chart of the token hit rate over time."""
        title = f"Token hit rate over time at {self._world.place}"
        drawn = lambda: rate_over_time(self._world.shown)  # noqa: E731
        yield from self._panel(
            "rate_over_time", drawn, title, self._blocks("Each step is a"), title
        )

    def of_the_best(self) -> Iterator[Panel]:
        """Yield losses and bytes over time for the best policy and its baseline, on one scale."""
        world = self._world.shown
        if world.best is None:
            return
        best, theirs, place = world.best, world.baseline_of(world.best), world.place
        others = [p for p in world.at(world.focus) if p is not best and p is not theirs]
        points = [best, *([theirs] if theirs else []), *others][: self._followed]
        held, warmed = most_held(points), world.warmed
        own, its = ChosenPolicy(self._best), self._theirs
        sides = [("", points, own)] + ([("_baseline", [theirs], its)] if theirs else [])
        kinds = tuple((kind, KINDS[kind]) for kind in kinds_held(self._world.at(world.focus)))
        for suffix, whose, name in sides:
            yield from self._panel(
                f"losses_over_time{suffix}",
                lambda whose=whose: losses_over_time(whose, warmed=warmed),
                ("Prompt tokens under ", name, f" at {place}"),
                self._blocks("Each step is a"),
                f"What became of the prompt tokens over time, {name} at {place}",
                self._fates,
            )
        for suffix, whose, name in sides:
            yield from self._panel(
                f"occupancy{suffix}",
                lambda whose=whose: occupancy(whose, held, warmed=warmed),
                ("Bytes held by ", name, f" at {place}"),
                self._blocks("At the end of each"),
                f"Bytes held over time, {name} at {place}",
                kinds,
            )

    def _difference(self, name: str, metric: Any, words: str) -> Iterator[Panel]:
        """Yield the chart of differences from the baseline in a metric."""
        world = self._world
        drawn = leading(differences_at_focus(world.shown, metric))
        left_out = len(differences_at_focus(world, metric)) - len(drawn)
        more = f" {left_out} more are in the table." if left_out > 0 else ""
        yield from self._panel(
            f"difference_{name}",
            lambda: differences(world.shown, metric),
            f"Difference in {words}",
            f"Paired with {world.baseline_name} at {world.place}. Bars: 95 % intervals. "
            f"“Tied”: all of it within {world.margins.text}. “Unsure”: it covers zero, or is not "
            f"significant after Holm's correction for all comparisons.{more}",
            f"{capital(words)} less that of {world.baseline_name}, at {world.place}",
        )

    def _panel(
        self,
        name: str,
        drawn: Any,
        title: Sentence,
        caption: str,
        image_title: str,
        swatches: Swatches = (),
    ) -> Iterator[Panel]:
        """Yield one panel, or none where there is nothing to draw."""
        with debug_mode(arg=False):  # a chart is validated once, when it is checked
            chart = drawn()
        if chart is None:
            return
        world, number = self._world, self._number + 1
        yield Panel(
            f"chart-{number}-{name.replace('_', '-')}",
            title,
            caption,
            chart,
            swatches,
            image=name if number == 1 else f"{name}-{number}",
            image_title=f"{image_title} ({world.name})" if world.name else image_title,
            schema=number == 1,
        )

    def _blocks(self, which: str) -> str:
        """Return the caption of a chart over time: what a step is, and the shaded warm-up."""
        warmup = " Grey: the warm-up, served but not counted." if self._world.warmed else ""
        return f"{which} block of consecutive requests, first replication.{warmup}"
