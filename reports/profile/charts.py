"""Charts of a cost profile: prefill time without context (F), with context, and residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from reports.charts.curves import Axis, band, curves, level
from reports.charts.theme import along, layered, painted, rule, tips, up
from reports.palette import BLUE, GREEN, GREY, ORANGE, VERMILLION
from reports.profile.summary import Landmarks, own_band, residuals
from simulator.costs.cost_model import CostModel

if TYPE_CHECKING:
    from simulator.costs.profile import Profile

MOST_POINTS = 4_000
TOKENS = ",.3~s"
CONTEXTS = 40
SUFFIXES = (64, 512, 2048, 8192)
COLOURS = (GREY, BLUE, GREEN, VERMILLION)
CONTEXT_STEPS = ((0, "no context"), (1, "up to 4,096"), (4097, "up to 32,768"), (32_769, "more"))


def profile_charts(profile: Profile) -> dict[str, alt.LayerChart]:
    """Return name -> chart; that of the residuals only where points were measured."""
    charts = {"own": _own(profile), "context": _context(profile)}
    return charts | ({"residuals": _residuals(profile)} if profile.prefill.n else {})


def suffix_colours(profile: Profile) -> dict[str, str]:
    """Return the colour of every length that the chart of contexts has a line for."""
    lengths = [n for n in SUFFIXES if n <= profile.valid_n_max] or [profile.valid_n_max]
    return {f"{n:,} tokens": colour for n, colour in zip(lengths, COLOURS, strict=False)}


def context_colours() -> dict[str, str]:
    """Return the colour of every range of contexts in the chart of residuals."""
    return {name: colour for (_, name), colour in zip(CONTEXT_STEPS, COLOURS, strict=True)}


def _own(profile: Profile) -> alt.LayerChart:
    """Draw F (prefill time without context) with its band, its floor and its knee."""
    landmarks = Landmarks.of(profile)
    n = list(profile.prefill.F.n)
    seconds = [us * 1e-6 for us in profile.prefill.F.us]
    ends, launched = own_band(profile), profile.prefill.floor_graph_us
    chart = curves(
        {"F": (n, [value * 1e3 for value in seconds])},
        {"F": BLUE},
        Axis("Tokens prefilled without context", TOKENS, log=True),
        Axis("Milliseconds", log=True),
        below=[
            *([band(n, *([value * 1e3 for value in end] for end in ends))] if ends else []),
            *level(landmarks.floor_seconds * 1e3, "floor"),
            *([] if launched is None else level(launched * 1e-3, "floor as a graph")),
        ],
    )
    knee = f"knee, {landmarks.knee_tokens:,.0f} tokens"
    return layered(*chart.layer, *rule(landmarks.knee_tokens, "x", knee, color=ORANGE))


def _context(profile: Profile) -> alt.LayerChart:
    """Draw the time of prefills of a few lengths over the context before them."""
    costs, colours = CostModel(profile), suffix_colours(profile)
    contexts = np.linspace(0, profile.valid_c_max, CONTEXTS).astype(int).tolist()
    lines = {
        name: (contexts, [costs.prefill_seconds(c, c + n) * 1e3 for c in contexts])
        for name, n in ((name, int(name.split()[0].replace(",", ""))) for name in colours)
    }
    return curves(
        lines, colours, Axis("Context before it, tokens", TOKENS), Axis("Milliseconds", log=True)
    )


def _residuals(profile: Profile) -> alt.LayerChart:
    """Draw predicted / measured - 1 of at most 4,000 points, evenly chosen."""
    c, n, error = residuals(profile)
    every = slice(None, None, -(-len(n) // MOST_POINTS) or 1)
    starts = [start for start, _ in CONTEXT_STEPS]
    names = [CONTEXT_STEPS[at][1] for at in np.searchsorted(starts, c[every], side="right") - 1]
    frame = pl.DataFrame({"c": c[every], "n": n[every], "error": error[every], "context": names})
    scale = alt.Scale(type="log", nice=False, padding=8)
    axis = up(format="+.0%", tickCount=6)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=22, opacity=0.55)
        .encode(
            x=alt.X("n:Q", title="Tokens prefilled", scale=scale, axis=along(format=TOKENS)),
            y=alt.Y("error:Q", title="Predicted / measured - 1", axis=axis),
            color=painted("context", context_colours(), title="Context, tokens"),
            tooltip=tips(n=("tokens", ",d"), c=("context", ",d"), error=("error", "+.1%")),
        )
    )
    return layered(*rule(0.0, "y"), points)
