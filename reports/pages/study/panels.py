"""The charts of a world, each with its title and caption on a page and its title as an image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from altair.utils.schemapi import debug_mode

from reports.charts.bars import differences, differences_at_focus, leading, losses, occurring
from reports.charts.course import losses_over_time, rate_over_time
from reports.charts.lines import capacity_curve, pareto
from reports.charts.occupancy import KINDS, kinds_held, most_held, occupancy
from reports.charts.positions import (
    KIND_COLOURS,
    distances,
    distances_by_label,
    kinds_stored,
    stored_kinds,
    storing,
)
from reports.palette import FATES, GREY
from reports.report import ChosenPolicy, Panel, Sentence
from reports.results.points import WorldPoints
from reports.words import capital

Swatches = tuple[tuple[str, str], ...]
OCTAVES = "A bar is an octave, named by its nearer end, as thick as its share of the states."
FLOORED = "Measured from that point as floored to where states may lie. "


class WorldPanels:
    """The panels of a world; a chart that has nothing to show is None and leaves no panel.

    Parameters
    ----------
    number
        Of the world in the study, from 0.
    world
        The points; charts draw the series that it shows.
    followed
        Of how many series the losses and the bytes over time can be drawn.
    """

    def __init__(self, number: int, world: WorldPoints, followed: int) -> None:
        self._number, self._world, self._followed = number, world, followed
        self._best = world.best.series.name if world.best else ""
        self._theirs = world.baseline.get(self._best, self._best)

    def savings(self) -> Iterator[Panel]:
        """Yield savings and latency, against bytes, the baseline and the capacity."""
        world = self._world
        yield from self._panel(
            "pareto_savings",
            lambda: pareto(world.shown, "token_hit_rate"),
            "Savings for the memory used",
            "Saved share of prompt tokens against the bytes really held, mean over time; "
            "one point a capacity. Up and left is better.",
            "Token hit rate against realised bytes",
        )
        yield from self._difference("hit_rate", "token_hit_rate", "token hit rate")
        yield from self._panel(
            "pareto_ttft",
            lambda: pareto(world.shown, "ttft_seconds"),
            "Latency for the memory used",
            "Mean time to first token against the bytes really held. Down and left is better.",
            "Mean time to first token against realised bytes",
        )
        yield from self._difference("ttft", "ttft_seconds", "mean time to first token")
        yield from self._panel(
            "capacity_curve",
            lambda: capacity_curve(world.shown),
            "What capacity buys",
            "Token hit rate at each capacity. More memory can lower it: most policies promise "
            "nothing else. Dotted: what no policy can exceed.",
            "Token hit rate against capacity",
        )

    def losses(self) -> Iterator[Panel]:
        """Yield what became of the prompt tokens."""
        place = self._world.place
        yield from self._panel(
            "losses",
            lambda: losses(self._world.shown),
            f"Where the prompt tokens went at {place}",
            "Every prompt token is counted once, at the first cause that explains it.",
            f"What became of the prompt tokens at {place}",
            self._fates(),
        )

    def positions(self) -> Iterator[Panel]:
        """Yield where policies store states."""
        shown, place, most = self._world.shown, self._world.place, max(self._followed, 2)
        points = storing(shown)
        yield from self._panel(
            "positions",
            lambda: kinds_stored(shown),
            f"Where states are stored at {place}",
            "The first that fits holds. “Where prompts diverge”: an earlier prompt had been seen "
            "to end or to diverge there, or this one did.",
            f"Where states are stored at {place}",
            tuple((kind, KIND_COLOURS[kind]) for kind in stored_kinds(points)),
        )
        captions = {
            "branch": "Where the prompt left what had been prefilled before; its start, where it "
            "shares nothing. " + FLOORED + OCTAVES,
            "end": FLOORED + OCTAVES,
            "start": OCTAVES,
        }
        names = {"branch": "the branch", "end": "the end of the prompt", "start": "the start"}
        whence = {**names, "branch": "where the prompt diverges"}
        for point, caption in captions.items():
            yield from self._panel(
                f"positions_from_{point}",
                lambda point=point: distances(shown, point, most),
                f"From {names[point]}",
                caption,
                f"States stored, by tokens from {whence[point]} at {place}",
            )
        best = [point for point in points if point is shown.best]
        yield from self._panel(
            "positions_by_label",
            lambda: distances_by_label(shown, [*best, *points][:most]),
            ("From the branch, by label, under ", ChosenPolicy(self._best)),
            "Labels that stored most states, first replication. " + FLOORED + OCTAVES,
            "States stored, by tokens from where the prompt diverges and by label, "
            f"{self._best} at {place}",
        )

    def rate_over_time(self) -> Iterator[Panel]:
        """Yield the token hit rate over time."""
        place = self._world.place
        yield from self._panel(
            "rate_over_time",
            lambda: rate_over_time(self._world.shown),
            f"Token hit rate over time at {place}",
            f"Each step is a block of consecutive requests, first replication.{self._warmup()}",
            f"Token hit rate over time at {place}",
        )

    def of_the_best(self) -> Iterator[Panel]:
        """Yield losses and bytes over time of the best point and of its baseline, on one scale."""
        world = self._world.shown
        if world.best is None:
            return
        best, theirs = world.best, world.baseline_of(world.best)
        others = [p for p in world.at(world.focus) if p is not best and p is not theirs]
        points = [best, *([theirs] if theirs else []), *others][: max(self._followed, 2)]
        held, warmed = most_held(points), world.warmed
        own, its = ChosenPolicy(self._best), self._theirs
        sides = [("", points, own)] + ([("_baseline", [theirs], its)] if theirs else [])
        step = f"Each step is a block of consecutive requests, first replication.{self._warmup()}"
        ends = "At the end of each block of consecutive requests, first replication."
        bytes_held = tuple((kind, KINDS[kind]) for kind in kinds_held(self._world.at(world.focus)))
        for suffix, whose, name in sides:
            yield from self._panel(
                f"losses_over_time{suffix}",
                lambda whose=whose: losses_over_time(whose, warmed=warmed),
                ("Prompt tokens under ", name, f" at {world.place}"),
                step,
                f"What became of the prompt tokens over time, {name} at {world.place}",
                self._fates(),
            )
        for suffix, whose, name in sides:
            yield from self._panel(
                f"occupancy{suffix}",
                lambda whose=whose: occupancy(whose, held, warmed=warmed),
                ("Bytes held by ", name, f" at {world.place}"),
                ends + self._warmup(),
                f"Bytes held over time, {name} at {world.place}",
                bytes_held,
            )

    def _difference(self, name: str, metric: Any, words: str) -> Iterator[Panel]:
        """Yield differences from the baseline in a metric."""
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

    def _fates(self) -> Swatches:
        """Return the colours of what became of tokens, as far as it occurs."""
        points = self._world.at(self._world.focus)
        return tuple((fate.name, FATES.get(fate.key, GREY)) for fate in occurring(points))

    def _warmup(self) -> str:
        return " Grey: the warm-up, served but not counted." if self._world.warmed else ""
