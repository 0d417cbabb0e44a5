"""The page of `milepost profiles show`: what a profile charges, and how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from reports.charts import write_images
from reports.charts.theme import CONFIG
from reports.page.answer import Number
from reports.page.document import bare, render
from reports.page.panel import Panel
from reports.palette import BLUE
from reports.profile.charts import context_colours, profile_charts, suffix_colours
from reports.profile.summary import summary
from reports.version import version
from simulator.base.errors import UsageError, printable
from simulator.base.files import write_text
from simulator.base.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from simulator.costs.profile import Profile

KINDS = {
    "measured": "was measured: timings of the model itself on the named hardware",
    "composed": "was composed from timings of single operators; the whole model was not timed",
    "analytic": "is a roofline estimate from data-sheet figures; nothing was measured",
    "toy": "is of a toy, to try things out: it says nothing of a real model",
}
LOSSY_MEANS = "Bytes are counted; no prefill gets faster by it, and packing takes no time."
IMAGES: dict[str, Literal["png", "svg", "pdf"]] = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
TITLES = {
    "own": "F: the time without context",
    "context": "What context adds",
    "residuals": "How far the fit is off",
}
CAPTIONS = {
    "own": "Up to the knee a prefill costs about the floor, so a few more recomputed tokens are "
    "free; beyond it each costs its share. A grey band, where there is one, is where the fit's "
    "uncertainty puts the curve (95 %).",
    "context": "Every new token attends to every token before it, so the same prefill costs more "
    "after a longer context.",
    "residuals": "Each point is a timed prefill of the fit (of many, 4,000 are drawn): above zero "
    "the profile says too much. The table has the errors on points that it has not seen.",
}

COMMAND = "milepost profiles show NAME --out PAGE.html"


def write_profile(path: Path, profile: Profile, command: str = COMMAND) -> None:
    """Write the page (.html) or the charts in one image (.png, .svg, .pdf); whole, or not at all.

    Raises
    ------
    UsageError
        For another ending, or when the file cannot be written.
    """
    ending = path.suffix
    if ending in (".html", ".htm"):
        write_text(path, render_profile_page(profile, command))
    elif ending in IMAGES:
        charts = profile_charts(profile)
        image = alt.vconcat(*(chart.properties(title=TITLES[key]) for key, chart in charts.items()))
        image = image.resolve_scale(color="independent")
        image.config = alt.Config(**CONFIG)
        write_images({path.stem: image}, path.parent, IMAGES[ending])
    else:
        known = ", ".join([".html", *IMAGES])
        raise UsageError(
            f"--out: expected a name that ends in {known}, found '{printable(str(path))}'"
        )


def render_profile_page(profile: Profile, command: str = COMMAND) -> str:
    """Return the page of a profile as HTML; the same input gives the same bytes."""
    charts, figures = profile_charts(profile), summary(profile)
    swatches = {
        "own": {"F": BLUE},
        "context": suffix_colours(profile),
        "residuals": context_colours(),
    }
    panels = [
        Panel(key, TITLES[key], CAPTIONS[key], tuple(swatches[key].items())) for key in charts
    ]
    return render(
        "profile.html",
        {key: bare(chart) | {"description": CAPTIONS[key]} for key, chart in charts.items()},
        brand="Milepost profile",
        title=profile.profile_id,
        version=version(),
        command=command,
        profile=profile,
        kind=KINDS[profile.kind],
        numbers=_numbers(profile, figures),
        panels=panels,
        errors=error_rows(figures),
        notes=notes(profile, figures),
    )


def error_rows(figures: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each regime: points, errors, worst point, noise."""
    return [
        (
            row["regime"],
            f"{row['points']:,}",
            f"{row['mean']:.1%}",
            f"{row['bias']:+.1%}",
            f"{row['worst']:+.1%} at {row['worst_n']:,} behind {row['worst_c']:,}",
            f"{row['noise']:.1%}" if row["noise"] else "n/a",
        )
        for row in figures["held_out"]
    ]


def notes(profile: Profile, figures: dict[str, Any]) -> list[str]:
    """Return what a reader should know before using the times."""
    sentences = [f"The profile {KINDS[profile.kind]}."]
    if profile.model.scale != "whole":
        sentences.append(f"Timed as {profile.model.scale}, not on the whole model.")
    if profile.kind == "measured":
        sentences += _unproved(profile, figures)
    if profile.lossy is not None:
        sentences.append(f"Lossy: {profile.lossy}. {LOSSY_MEANS}")
    if figures["band"] is not None:
        sentences.append(
            f"The fit's uncertainty is {figures['band']:.2%} of a prefill's time on average "
            f"(95 %), stored as {figures['draws']} draws: model.draws = true carries it into a "
            "study."
        )
    else:
        timed = "" if profile.prefill.n else ": there are no timed prefills to take it from"
        sentences.append(f"No uncertainty is stated{timed}.")
    sentences += [
        f"Outlier: {row['n']:,} tokens behind {row['c']:,}, predicted / measured - 1 = "
        f"{row['error']:+.0%}."
        for row in figures["outliers"]
    ]
    sentences += [
        f"{warning[:1].upper()}{warning[1:].rstrip('.')}." for warning in figures["warnings"]
    ]
    sentences.append(
        f"Valid for prefills of up to {profile.valid_n_max:,} tokens behind up to "
        f"{profile.valid_c_max:,}; beyond, times are extrapolated, and reports count such requests."
    )
    return sentences


def _unproved(profile: Profile, figures: dict[str, Any]) -> list[str]:
    """Return what a measured profile should tell of itself and does not."""
    sentences = []
    if profile.exactness is None or profile.exactness.fp32_max_abs is None:
        sentences.append("No exactness gate is recorded: nothing shows that states can be resumed.")
    if not figures["held_out"]:
        sentences.append("Nothing was held out: no error of the fit is known.")
    return sentences


def _numbers(profile: Profile, figures: dict[str, Any]) -> list[Number]:
    """Return the four numbers."""
    context = figures["context_tokens"]
    slot = profile.kv_slot_bytes
    return [
        Number(
            "Floor",
            format_seconds(figures["floor_seconds"]),
            f"up to about {figures['knee_tokens']:,.0f} tokens",
        ),
        Number(
            "A token",
            format_seconds(figures["token_seconds"]),
            "pairs cost nothing" if context is None else f"twice that behind {context:,.0f} tokens",
        ),
        Number(
            "A checkpoint",
            format_bytes(profile.state_bytes),
            f"{format_bytes(slot)} of it KV; " * bool(slot)
            + f"copied in {format_seconds(figures['capture_seconds'])}",
        ),
        Number("KV a token", format_bytes(profile.kv_bytes_per_token), _kv_note(profile)),
    ]


def _kv_note(profile: Profile) -> str:
    own = format_bytes(profile.kv.bytes_per_token)
    return f"{own} before compression" if profile.kv_compression else f"{profile.kv.dtype or ''}"
