"""The page of `milepost place`: the staircase under the survival curve, in one HTML file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.page.answer import Number
from reports.page.document import bare, render
from reports.page.panel import Panel
from reports.palette import GREY, VERMILLION
from reports.place.charts import MOST_STEPS, savings_curve, staircase
from reports.place.summary import listed, theory, tokens
from reports.version import version
from simulator.base.files import write_text

if TYPE_CHECKING:
    from reports.place.law_file import DepthLaw

MOST_ROWS = 500


PANELS = (
    Panel(
        "staircase",
        "Every checkpoint is a step under the curve",
        "The curve says how many requests overlap at least this far; the area under it is the mean "
        "overlap. A request resumes at the last step it reaches, so the area under the steps is "
        "what the plan saves. The rest is computed again.",
        (("requests that overlap this far", GREY), ("saved by the plan", VERMILLION)),
    ),
    Panel(
        "savings",
        "What another checkpoint buys",
        "The optimum gains less with every checkpoint, so a price for one fixes their number: the "
        "elbow is where the next would gain less than the average one.",
        (("optimum", GREY), ("this placer", VERMILLION)),
    ),
)
ALIKE = (("this placer, which is optimal", VERMILLION),)

COMMAND = "milepost place --page PAGE.html"


def write_place_page(
    path: Path, law: DepthLaw, placement: dict[str, Any], command: str = COMMAND
) -> None:
    """Write the page of an answer; whole, or not at all.

    Raises
    ------
    UsageError
        When the file cannot be written.
    """
    write_text(path, render_place_page(law, placement, command))


def render_place_page(law: DepthLaw, placement: dict[str, Any], command: str = COMMAND) -> str:
    """Return the page of an answer as HTML; the same input gives the same bytes.

    Parameters
    ----------
    law
        The law that was asked about, cut at the prompt's length.
    placement
        What `placement.answer` says of it.
    command
        How a reader may make the page again.
    """
    charts = {
        "staircase": staircase(law, placement["positions"], placement["law"]["length_tokens"]),
        "savings": savings_curve(placement),
    }
    return render(
        "place.html",
        {name: bare(chart) for name, chart in charts.items()},
        brand="Milepost placement",
        title=f"Where to checkpoint: {law.name}",
        version=version(),
        command=command,
        placement=placement,
        numbers=_numbers(placement),
        panels=_panels(placement),
        rows=_rows(law, placement),
        more_rows=max(0, len(placement["positions"]) - MOST_ROWS),
        theory=theory(placement),
        notes=_notes(placement),
        saved=tokens(placement["expected_saved_tokens"]),
        overlap=tokens(placement["law"]["mean_overlap_tokens"]),
        listed=listed(placement["positions"]),
    )


def _panels(placement: dict[str, Any]) -> tuple[Panel, ...]:
    """Return the panels, whose legends list the optimum where it is a line of its own."""
    if placement["savings_by_budget"] != placement["optimum"]["savings_by_budget"]:
        return PANELS
    return tuple(replace(p, swatches=ALIKE) if p.id == "savings" else p for p in PANELS)


def _numbers(placement: dict[str, Any]) -> list[Number]:
    """Return the four numbers."""
    law, saved = placement["law"], placement["expected_saved_tokens"]
    overlap, best = law["mean_overlap_tokens"], placement["optimum"]["expected_saved_tokens"]
    elbow = placement["elbow"]
    return [
        Number(
            "Saved of the overlap",
            f"{saved / overlap:.1%}" if overlap else "n/a",
            f"{tokens(saved)} of {tokens(overlap)} tokens a request",
        ),
        Number(
            "Of the optimum",
            f"{saved / best:.1%}" if best else "n/a",
            f"{tokens(saved)} of {tokens(best)} tokens a request",
        ),
        Number(
            "Checkpoints",
            f"{len(placement['positions']):,}",
            f"budget {placement['budget']:,}, {law['distinct_depths']:,} distinct depths",
        ),
        Number(
            "Elbow",
            "n/a" if elbow is None else f"{elbow['budget']:,}",
            "" if elbow is None else f"at {tokens(elbow['price_tokens'])} tokens a request each",
        ),
    ]


def _rows(law: DepthLaw, placement: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return position, requests that reach it, and tokens that its step saves."""
    rows: list[tuple[str, ...]] = []
    before = 0
    for number, position in enumerate(placement["positions"][:MOST_ROWS], start=1):
        reach = float(law.weights[law.depths >= position].sum()) / law.total
        gain = (position - before) * reach
        rows.append((str(number), f"{position:,}", f"{reach:.1%}", tokens(gain)))
        before = position
    return rows


def _notes(placement: dict[str, Any]) -> list[str]:
    notes = list(placement["notes"])
    notes.append(
        "Savings are expectations under this law, misses included, for a cache that holds every "
        "checkpoint and all KV; eviction and queues are the business of `milepost run`."
    )
    if placement["bounds"] is not None and placement["bounds"]["vacuous"]:
        notes.append("The sampling bound exceeds the prompt's length: it says nothing here.")
    if len(placement["positions"]) > MOST_STEPS:
        notes.append(f"Only the first {MOST_STEPS:,} steps are drawn.")
    return notes
