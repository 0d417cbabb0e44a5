"""The report of `milepost trace compare`: the differences between two traces and their tests."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from reports.caveats import noted
from reports.report import (
    Code,
    Listing,
    Number,
    Panel,
    Panels,
    Report,
    Section,
    Sentence,
    Strong,
    Table,
)
from reports.trace.comparison.charts import LOOKS, comparison_charts
from reports.trace.comparison.comparing import Comparison
from reports.trace.comparison.differences import Difference
from reports.trace.comparison.wording import with_unit
from reports.words import capital
from simulator.base.units import format_count

PANELS: dict[
    str, dict[str, tuple[str, tuple[str, ...]]]
] = {  # group -> name of a chart -> its title, and the measures in its caption
    "Lengths": {
        "prompts": ("Prompts", ("prompt_median", "prompt_p90", "prompt_law")),
        "outputs": ("Outputs", ("output_median", "output_p90", "output_law")),
    },
    "What a cache could reuse": {
        "survival": ("How far prompts overlap", ("reusable_share", "overlap_law")),
        "lru": ("How much KV it takes", ("lru_curve", "kv_for_90_percent")),
        "waits": ("How soon a prefix is used again", ("reuse_wait_median", "reuse_wait_law")),
    },
    "Traffic": {
        "rate": ("Arrivals over time", ("rate",)),
        "dispersion": ("Burstiness of the arrivals", ("gap_cv",)),
        "turns": ("Sessions", ("turns", "turn_wait_median", "turn_wait_law")),
    },
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
VERDICTS = {
    "beyond chance": "Beyond chance",
    "may be chance": "May be chance",
    "not tested": "Not tested, as too little is there",
    "the same": "The same in both",
}
NUMBERS = ("prompt_median", "reusable_share", "kv_for_90_percent", "rate")


def trace_comparison_report(comparison: Comparison, command: str) -> Report:
    """Return the report of a comparison of two traces; `command` makes the report again."""
    beyond = comparison.of("beyond chance")
    most = (("Most of all, ", Strong(beyond[0].sentence), "."),) if beyond else ()
    return Report(
        kind="trace",
        title=f"From {comparison.a} to {comparison.b}",
        sections=(
            Section(
                answer=_answer(comparison, len(beyond)),
                also=most,
                numbers=_numbers(comparison),
                blocks=(*_sentences(comparison), *_panels(comparison), _measures(comparison)),
            ),
        ),
        caveats=(*comparison.notes, *_notes(comparison)),
        command=command,
        data=comparison.as_json(),
    )


def _answer(comparison: Comparison, beyond: int) -> Sentence:
    """Return which traces were compared and how many of the measures differ significantly."""
    a, b = (f", {len(side.trace):,} requests)" for side in comparison.sides)
    sizes = ("A (", Code(comparison.a), f"{a} and B (", Code(comparison.b), b)
    tested = sum(each.p_value is not None for each in comparison.differences)
    if not tested:
        return (*sizes, ": too little to tell differences from chance.")
    return (*sizes, " differ beyond chance in ", Strong(f"{beyond} of {tested} measures"), ".")


def _numbers(comparison: Comparison) -> tuple[Number, ...]:
    by_name = {each.name: each for each in comparison.differences}
    before, now = (format_count(len(side.trace)) for side in comparison.sides)
    numbers = [Number("Requests", now, f"before: {before}")]
    for each in (by_name[name] for name in NUMBERS if name in by_name):
        if each.a is not None and each.b is not None:
            note = f"before: {with_unit(each.a, each.unit)}; {each.verdict}"
            numbers.append(Number(TITLES[each.name], with_unit(each.b, each.unit), note))
    return tuple(numbers[:4])


def _sentences(comparison: Comparison) -> Iterator[Listing]:
    """Yield a list of sentences for each verdict.

    A page shows only the list of significant differences; its table has the others.
    """
    for verdict, title in VERDICTS.items():
        items = [(_with_p(each), "") for each in comparison.of(verdict)]
        if items:
            yield Listing(title=title, items=items, on_page=verdict == "beyond chance")


def _with_p(each: Difference) -> str:
    p = f"; p {_p_value(each)}" if each.adjusted_p_value is not None and each.size else ""
    return f"{capital(each.sentence)}{p}."


def _p_value(each: Difference) -> str:
    """Return the adjusted p-value with two digits."""
    adjusted = each.adjusted_p_value
    return (
        "n/a" if adjusted is None else f"{adjusted:.2f}" if adjusted >= 0.1 else f"{adjusted:.2g}"
    )


def _panels(comparison: Comparison) -> Iterator[Panels]:
    charts = comparison_charts(comparison)
    by_name = {each.name: each for each in comparison.differences}
    swatches = tuple(
        (f"{letter}: {name}", colour, ",".join(map(str, dash)))
        for (letter, (colour, dash)), name in zip(
            LOOKS.items(), (comparison.a, comparison.b), strict=True
        )
    )
    for group, members in PANELS.items():
        panels = []
        for name, (title, measures) in members.items():
            measured = [by_name[each] for each in measures if each in by_name]
            caption = " ".join(f"{capital(each.sentence)}: {each.verdict}." for each in measured)
            caption = caption or "One of the traces does not tell it."
            if name in charts:
                panels.append(Panel(name, title, caption, charts[name], swatches))
        if panels:
            yield Panels(title=group, panels=tuple(panels))


def _measures(comparison: Comparison) -> Table:
    return Table(
        title="Every measure",
        id="measures",
        head=("Measure", "A", "B", "Change", "p, corrected", "Verdict"),
        rows=[
            (
                TITLES[each.name],
                *(
                    "" if value is None else with_unit(value, each.unit)
                    for value in (each.a, each.b)
                ),
                _change(each),
                _p_value(each),
                each.verdict,
            )
            for each in comparison.differences
        ],
        words=(5,),
        on_terminal=False,
    )


def _change(each: Difference) -> str:
    if each.kind == "share":
        return f"{100 * each.apart:+.1f} points"
    if each.kind == "distance":
        return f"{each.apart:.3f} apart"
    return "from none" if each.apart == inf else f"{100 * (each.apart - 1):+.1f} %"


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield the notes from reading each trace, marked A or B."""
    for letter, side in zip(LOOKS, comparison.sides, strict=True):
        yield from (f"{letter}: {note}" for note in noted(side.trace.notes))
