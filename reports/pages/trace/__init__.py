"""The report of `milepost trace inspect`: the content of a trace and what a cache could save."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reports.caveats import coarse_clock, trace_caveats
from reports.pages.trace.captions import PANELS, tokens
from reports.pages.trace.tables import coordinates, facts, laws
from reports.palette import BLUE, GREY, VERMILLION
from reports.report import Number, Panel, Panels, Range, Report, Section, Strong
from reports.report.packing import short
from reports.trace.charts import (
    COORDINATES,
    LENGTHS,
    time_unit,
    trace_charts,
    working_set_colours,
    working_sets,
)
from reports.words import percent
from simulator.base.units import format_count, format_seconds

if TYPE_CHECKING:
    from reports.trace.memory import Memory
    from workloads.inspection import Inspection


def trace_report(inspection: Inspection, command: str, memory: Memory | None = None) -> Report:
    """Return the report of a trace; `memory` adds its working sets in bytes, for one profile."""
    plain = inspection.as_json()
    whole = inspection.prompt_tokens
    at_ends = f"{percent(inspection.end_only_token_hit_rate)} "
    at_ends += f"({_of(inspection.end_only_saved_tokens, whole)})"
    return Report(
        kind="trace",
        title=f"What {inspection.name or 'the trace'} holds",
        sections=(
            Section(
                answer=(
                    "An unbounded cache with a state everywhere saves ",
                    Strong(f"{percent(inspection.ideal_token_hit_rate)} of the prompt tokens"),
                    f" ({_of(inspection.ideal_saved_tokens, whole)}).",
                ),
                also=(f"States at the ends of earlier prompts alone save {at_ends}.",),
                numbers=_numbers(inspection),
                blocks=(
                    *_panels(inspection, memory),
                    facts(inspection, memory),
                    laws(inspection),
                    coordinates(inspection),
                ),
            ),
        ),
        caveats=tuple(_caveats(inspection)),
        command=command,
        data=plain if memory is None else plain | {"memory": memory.as_json(inspection)},
    )


def _panels(inspection: Inspection, memory: Memory | None) -> Iterator[Panels]:
    """Yield the groups of charts that have data to draw."""
    charts = trace_charts(inspection)
    titles = {}
    if memory is not None and (held := working_sets(inspection, memory)) is not None:
        charts["memory"] = held
        titles["memory"] = f"The working set, with {memory.profile}", memory.caption
    swatches = _swatches(inspection)
    for group, members in PANELS.items():
        over_time = group == "Over time"
        panels = tuple(
            Panel(name, title, caption(inspection), charts[name], swatches.get(name, ()))
            for name, (title, caption) in (members | titles if over_time else members).items()
            if name in charts
        )
        if panels:
            range = _range(inspection) if over_time else None
            yield Panels(title=group, panels=panels, range=range)


def _range(inspection: Inspection) -> Range | None:
    """Return the time span of the trace; None where it is too short for charts over time."""
    if len(inspection.working_sets.moments) < 2:
        return None
    name, size = time_unit(inspection)
    return Range(0, short(inspection.working_sets.moments[-1] / size), name)


def _swatches(inspection: Inspection) -> dict[str, tuple[tuple[str, str], ...]]:
    lengths = LENGTHS if inspection.output_tokens else {"prompts": LENGTHS["prompts"]}
    zipf = {} if inspection.popularity.zipf is None else {"Zipf's law": VERMILLION}
    colours = {
        "concentration": {f"from the {name}": colour for name, colour in COORDINATES.items()},
        "lengths": lengths,
        "working_set": working_set_colours(inspection),
        "memory": working_set_colours(inspection),
        "popularity": {"this trace": BLUE, **zipf},
        "dispersion": {"this trace": BLUE, "Poisson, 95 %": GREY},
    }
    return {chart: tuple(of_chart.items()) for chart, of_chart in colours.items()}


def _numbers(inspection: Inspection) -> tuple[Number, ...]:
    law, span, sharpest, held = inspection.coordinates.all, "no times", "n/a", "no prompt overlaps"
    if inspection.span_seconds is not None and inspection.arrivals is not None:
        span = f"in {format_seconds(inspection.span_seconds)}, "
        span += f"{inspection.arrivals.requests_per_second:.3g} a second"
    if law is not None:
        sharpest = law.sharpest
        share = getattr(law, sharpest).share_in_best_window
        held = f"{percent(share)} of overlaps end in {law.window_tokens} tokens"
    output = tokens(inspection.output_length.mean) if inspection.output_tokens else "unknown"
    needed = tokens(inspection.lru.tokens_for_share["90%"])
    return (
        Number("Requests", format_count(inspection.requests), span),
        Number("Prompt, mean", tokens(inspection.prompt_length.mean), f"output {output}"),
        Number("Sharpest coordinate", sharpest, held),
        Number("KV for 90 % of it", needed, "in an LRU cache, states not counted"),
    )


def _caveats(inspection: Inspection) -> Iterator[str]:
    yield from trace_caveats({"granularity": inspection.granularity, "notes": inspection.notes})
    arrivals = inspection.arrivals
    yield from coarse_clock(artefact=arrivals is not None and arrivals.tick_is_artefact)
    yield (
        "Savings are those of an unbounded cache, each request served before the next arrives; "
        "`milepost run` tells what a cache of a given size saves."
    )


def _of(part: float, whole: float) -> str:
    return f"{format_count(part)} of {format_count(whole)}"
