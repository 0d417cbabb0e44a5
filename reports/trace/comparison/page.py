"""The page of `milepost trace compare`, in one HTML file."""

from __future__ import annotations

from math import inf
from pathlib import Path

from reports.page.answer import Number
from reports.page.document import render
from reports.page.panel import Panel, described
from reports.trace.comparison.charts import LOOKS, comparison_charts
from reports.trace.comparison.comparing import Comparison
from reports.trace.comparison.differences import Difference
from reports.trace.comparison.shown import headline, p_value
from reports.trace.comparison.wording import with_unit
from reports.version import version
from simulator.base.files import write_text
from simulator.base.units import format_count

COMMAND = "milepost trace compare A B --page PAGE.html"
CHARTS = {  # title, and the measures that its caption tells
    "prompts": ("Prompts", ("prompt_median", "prompt_p90", "prompt_law")),
    "outputs": ("Outputs", ("output_median", "output_p90", "output_law")),
    "survival": ("How far prompts overlap", ("reusable_share", "overlap_law")),
    "lru": ("How much KV it takes", ("lru_curve", "kv_for_90_percent")),
    "waits": ("How soon a prefix is used again", ("reuse_wait_median", "reuse_wait_law")),
    "rate": ("Arrivals over time", ("rate",)),
    "dispersion": ("Burstiness of the arrivals", ("gap_cv",)),
    "turns": ("Sessions", ("turns", "turn_wait_median", "turn_wait_law")),
}
GROUPS = {
    "Lengths": ("prompts", "outputs"),
    "What a cache could reuse": ("survival", "lru", "waits"),
    "Traffic": ("rate", "dispersion", "turns"),
}
TITLES = {
    "prompt_median": "Prompt, median",
    "prompt_p90": "Prompt, 90th percentile",
    "prompt_law": "Prompt lengths",
    "output_median": "Output, median",
    "output_p90": "Output, 90th percentile",
    "output_law": "Output lengths",
    "reusable_share": "Reusable share of prompt tokens",
    "overlap_median": "Overlap, median",
    "overlap_law": "Overlaps",
    "reuse_wait_median": "Time to the next use, median",
    "reuse_wait_law": "Times to the next use",
    "lru_curve": "LRU hit rates",
    "kv_for_90_percent": "KV for 90 % of what LRU can save",
    "rate": "Requests a second",
    "gap_cv": "cv of the gaps between arrivals",
    "turns": "Turns a session",
    "turn_wait_median": "Wait for the next turn, median",
    "turn_wait_law": "Waits for the next turn",
    "label_mix": "Mix of labels",
}
NUMBERS = ("prompt_median", "reusable_share", "kv_for_90_percent", "rate")
HEADINGS = ("Measure", "A", "B", "Change", "p, corrected", "Verdict")


def write_comparison_page(path: Path, comparison: Comparison, command: str = COMMAND) -> None:
    """Write the page of a comparison; whole, or not at all.

    Raises
    ------
    UsageError
        When the file cannot be written.
    """
    write_text(path, render_comparison_page(comparison, command))


def render_comparison_page(comparison: Comparison, command: str = COMMAND) -> str:
    """Return the page as HTML; the same input gives the same bytes."""
    charts = comparison_charts(comparison)
    panels = {name: _panel(comparison, name) for name in CHARTS if name in charts}
    groups = [
        (title, [panels[name] for name in names if name in panels])
        for title, names in GROUPS.items()
    ]
    beyond = comparison.of("beyond chance")
    return render(
        "trace_compare.html",
        described(charts, panels.values()),
        brand="Milepost trace",
        title=f"From {comparison.a} to {comparison.b}",
        version=version(),
        command=command,
        comparison=comparison,
        answer=_answer(comparison, beyond),
        beyond=[_printed(each.sentence) for each in beyond],
        numbers=_numbers(comparison),
        groups=[(title, shown) for title, shown in groups if shown],
        headings=HEADINGS,
        rows=[_row(each) for each in comparison.differences],
        notes=[*comparison.notes, *_own_notes(comparison)],
    )


def _answer(comparison: Comparison, beyond: list[Difference]) -> str:
    if not beyond:
        return _printed(headline(comparison)) + "."
    return _printed(f"most of all, {beyond[0].sentence}.")


def _panel(comparison: Comparison, name: str) -> Panel:
    title, measures = CHARTS[name]
    by_name = {each.name: each for each in comparison.differences}
    sentences = [
        f"{_printed(by_name[each].sentence)}: {by_name[each].verdict}."
        for each in measures
        if each in by_name
    ]
    caption = " ".join(sentences) or "One of the traces does not tell it."
    names = (comparison.a, comparison.b)
    swatches = tuple(
        (f"{letter}: {full}", colour, ",".join(map(str, dash)))
        for (letter, (colour, dash)), full in zip(LOOKS.items(), names, strict=True)
    )
    return Panel(name, title, caption, swatches)


def _numbers(comparison: Comparison) -> list[Number]:
    by_name = {each.name: each for each in comparison.differences}
    sizes = [format_count(len(side.trace)) for side in comparison.sides]
    numbers = [Number("Requests", sizes[1], f"before: {sizes[0]}")]
    for name in NUMBERS:
        each = by_name.get(name)
        if each is not None and each.a is not None and each.b is not None:
            before = f"before: {with_unit(each.a, each.unit)}; {each.verdict}"
            numbers.append(Number(TITLES[name], with_unit(each.b, each.unit), before))
    return numbers[:4]


def _row(each: Difference) -> tuple[str, ...]:
    figures = ["" if value is None else with_unit(value, each.unit) for value in (each.a, each.b)]
    p = "n/a" if each.adjusted_p_value is None else p_value(each.adjusted_p_value)
    return (TITLES[each.name], *figures, _change(each), p, each.verdict)


def _change(each: Difference) -> str:
    if each.kind == "share":
        return f"{100 * each.apart:+.1f} points"
    if each.kind == "distance":
        return f"{each.apart:.3f} apart"
    return "from none" if each.apart == inf else f"{100 * (each.apart - 1):+.1f} %"


def _own_notes(comparison: Comparison) -> list[str]:
    return [
        f"{letter}: {note.rstrip('.')}."
        for letter, side in zip(LOOKS, comparison.sides, strict=True)
        for note in side.trace.notes
    ]


def _printed(sentence: str) -> str:
    """Return a sentence of the terminal as a page has it."""
    return (sentence[:1].upper() + sentence[1:]).replace("->", "\N{RIGHTWARDS ARROW}")
