"""Tables of the figures of a trace, with units, numerators and denominators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reports.report import Table, Terms
from reports.trace.memory import ASSUMED
from reports.words import percent, share
from simulator.base.units import format_count, format_seconds

if TYPE_CHECKING:
    from reports.trace.memory import Memory
    from workloads.inspection import Inspection
    from workloads.inspection.burstiness import Burstiness
    from workloads.inspection.coordinates import Coordinates


def facts(inspection: Inspection, memory: Memory | None) -> Terms:
    """Return the figures of a trace by name; with `memory`, its working sets in bytes too."""
    items = [
        *_content(inspection),
        *_reuse(inspection),
        *_working_sets(inspection, memory),
        *_traffic(inspection),
    ]
    return Terms(title="Figures of the trace", id="figures", items=items)


def _content(inspection: Inspection) -> Iterator[tuple[str, str]]:
    law, outputs = inspection.popularity, inspection.output_tokens
    yield "trace", f"{inspection.name}: {inspection.requests:,} requests"
    yield "prompt tokens", format_count(inspection.prompt_tokens)
    yield "output tokens", format_count(outputs) if outputs else "unknown"
    yield "granularity", f"{inspection.granularity:,} tokens"
    again = f"{percent(law.used_again_share)} of them in several prompts"
    yield "distinct tokens", f"{law.distinct_tokens:,}, {again}, {inspection.nodes:,} nodes"
    if law.zipf is not None:
        error = f"cumulative shares within {100 * law.zipf.largest_error:.1f} points"
        yield "Zipf exponent", f"{law.zipf.exponent:.2f} ({error})"


def _reuse(inspection: Inspection) -> Iterator[tuple[str, str]]:
    law, needed = inspection.reuse, inspection.lru.tokens_for_share
    if inspection.ideal_saved_tokens:
        needs = ", ".join(f"{tokens:,} for {part}" for part, tokens in needed.items())
        yield "LRU needs, of the ideal", f"{needs.replace('%', ' %')} (tokens of KV)"
    if law.seconds is not None:
        soon = f"p50 {format_seconds(law.seconds.p50)}, p90 {format_seconds(law.seconds.p90)}"
        yield "used again after", soon
    elif law.requests is not None:
        soon = f"p50 {law.requests.p50:,.0f}, p90 {law.requests.p90:,.0f} requests"
        yield "used again after", soon


def _working_sets(inspection: Inspection, memory: Memory | None) -> Iterator[tuple[str, str]]:
    unit, sets = inspection.working_sets.unit, inspection.working_sets.sets
    windows = ["all" if each.window is None else f"{each.window:,.0f} {unit}" for each in sets]
    for window, each in zip(windows, sets, strict=True):
        if each.window is not None:
            held = f"mean {each.mean_tokens:,.0f}, peak {each.peak_tokens:,} tokens"
            yield f"working set, {window}", held
    if memory is not None:
        yield "in memory", f"{memory.profile}: {memory.text()}; assumed: {ASSUMED}"
        for window, each in zip(windows, sets, strict=True):
            yield f"in memory, {window}", memory.figures(each)


def _traffic(inspection: Inspection) -> Iterator[tuple[str, str]]:
    talk = inspection.conversations
    if inspection.span_seconds is None:
        yield "arrivals", "no times"
    elif inspection.arrivals is not None:
        yield from _arrivals(inspection.arrivals, inspection.span_seconds)
    if talk is not None:
        turns = f"{talk.turns.mean:.3g} turns each (most {talk.turns.max:,})"
        yield "sessions", f"{talk.sessions:,}, {turns}"
        if talk.continuing_share is not None:
            later = talk.requests - talk.sessions
            yield "turns that go on", share(round(talk.continuing_share * later), later)


def _arrivals(arrivals: Burstiness, span_seconds: float) -> Iterator[tuple[str, str]]:
    rate = f"{arrivals.requests_per_second:.3g} requests/s for {format_seconds(span_seconds)}"
    yield "arrivals", f"{rate}, cv of gaps {arrivals.gap_cv:.2f}"
    if arrivals.tick_seconds is not None and arrivals.jittered_gap_cv is not None:
        clock = f"{arrivals.distinct_times:,} different times, {arrivals.tick_seconds:g} s apart"
        spread = f"spread within ticks, cv of gaps {arrivals.jittered_gap_cv:.2f}"
        yield "clock", f"{clock}; {spread}"
    for each in arrivals.dispersion:
        poisson = f"Poisson {each.poisson_low:.2f} to {each.poisson_high:.2f}"
        name = f"dispersion, {each.window_seconds:g} s"
        yield name, f"{each.index:,.2f} ({poisson}, {each.windows:,} windows)"


def laws(inspection: Inspection) -> Table:
    """Return a table with mean and quantiles of every quantity that is counted in tokens."""
    talk = inspection.conversations
    rows = {
        "prompt length": inspection.prompt_length,
        "output length": inspection.output_length,
        "overlap": inspection.overlap,
        "used in between": inspection.reuse.tokens,
        "growth a turn": None if talk is None else talk.growth_tokens,
    }
    return Table(
        title="Lengths",
        id="lengths-table",
        head=("Tokens", "Mean", "p50", "p90", "p99", "Most"),
        rows=[
            (name, *(f"{value:,.0f}" for value in (law.mean, law.p50, law.p90, law.p99, law.max)))
            for name, law in rows.items()
            if law is not None
        ],
    )


def coordinates(inspection: Inspection) -> Table:
    """Return a table of the positions at which overlaps end, for all requests and per label."""
    whole = inspection.coordinates.all
    labels = inspection.coordinates.by_label if len(inspection.coordinates.by_label) > 1 else {}
    window = "" if whole is None else f" of {whole.window_tokens} tokens"
    rows = list(_ends("all", inspection.requests, whole))
    for label, law in labels.items():
        rows += _ends(label, inspection.labels[label], law)
    return Table(
        title="Where overlaps end",
        id="labels",
        head=(
            "Label",
            "Requests",
            "Counted from",
            f"In one window{window}",
            "Entropy",
            "One checkpoint saves",
        ),
        rows=rows,
        words=(2,),
        brief=(0, 2, 3, 4, 5),
    )


def _ends(label: str, requests: int, law: Coordinates | None) -> Iterator[tuple[str, ...]]:
    if law is None:
        yield label, format_count(requests), "no overlap", "", "", ""
        return
    for name in ("start", "end", "branch"):
        each = getattr(law, name)
        yield (
            label,
            format_count(requests),
            f"{name}, sharpest" if name == law.sharpest else name,
            f"{percent(each.share_in_best_window)} of {law.hits:,}",
            f"{each.entropy_bits:.2f} bits",
            f"{percent(each.one_checkpoint_share)} at {each.one_checkpoint_tokens:,}",
        )
