"""What `milepost trace inspect` prints: figures with units, numerators and denominators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reports.console import print_table
from reports.results.summary import share
from simulator.base.units import format_count, format_seconds

if TYPE_CHECKING:
    from reports.trace.memory import Memory
    from workloads.inspection import Inspection
    from workloads.inspection.coordinates import Coordinates
    from workloads.inspection.law import Quantiles

MOST_LABELS = 20


def print_inspection(inspection: Inspection, memory: Memory | None = None) -> None:
    """Print the figures of a trace, and its working sets in bytes where a profile is known."""
    held = [] if memory is None else list(_memory(inspection, memory))
    print_table(("", ""), [*_totals(inspection), *_reuse(inspection), *held, *_traffic(inspection)])
    print()
    print_table(("tokens", "mean", "p50", "p90", "p99", "most"), list(_laws(inspection)))
    print()
    law = inspection.coordinates.all
    window = "" if law is None else f" of {law.window_tokens}"
    head = ("overlaps", "counted from", f"in one window{window}", "entropy", "one checkpoint saves")
    print_table(head, list(_coordinates(inspection)))


def _totals(inspection: Inspection) -> Iterator[tuple[str, str]]:
    yield "trace", f"{inspection.name}: {inspection.requests:,} requests"
    yield "prompt tokens", format_count(inspection.prompt_tokens)
    outputs = format_count(inspection.output_tokens) if inspection.output_tokens else "unknown"
    yield "output tokens", outputs
    yield "granularity", f"{inspection.granularity:,} tokens"
    whole = inspection.prompt_tokens
    yield "ideal saved tokens", share(inspection.ideal_saved_tokens, whole)
    yield "by ends of prompts alone", share(inspection.end_only_saved_tokens, whole)
    law = inspection.popularity
    again = f"{100 * law.used_again_share:.1f} % of them in several prompts"
    yield "distinct tokens", f"{law.distinct_tokens:,}, {again}, {inspection.nodes:,} nodes"
    if law.zipf is not None:
        error = f"cumulative shares within {100 * law.zipf.largest_error:.1f} points"
        yield "Zipf exponent", f"{law.zipf.exponent:.2f} ({error})"
    for note in inspection.notes:
        yield "note", note


def _reuse(inspection: Inspection) -> Iterator[tuple[str, str]]:
    needed = inspection.lru.tokens_for_share
    if inspection.ideal_saved_tokens:
        needs = ", ".join(f"{tokens:,} for {part}" for part, tokens in needed.items())
        yield "LRU needs, of the ideal", f"{needs.replace('%', ' %')} (tokens of KV)"
    law = inspection.reuse
    if law.seconds is not None:
        yield (
            "used again after",
            f"p50 {format_seconds(law.seconds.p50)}, p90 {format_seconds(law.seconds.p90)}",
        )
    elif law.requests is not None:
        yield (
            "used again after",
            f"p50 {law.requests.p50:,.0f}, p90 {law.requests.p90:,.0f} requests",
        )
    for each in inspection.working_sets.sets:
        if each.window is not None:
            name = f"working set, {each.window:,.0f} {inspection.working_sets.unit}"
            yield name, f"mean {each.mean_tokens:,.0f}, peak {each.peak_tokens:,} tokens"


def _memory(inspection: Inspection, memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the working sets in GiB, and what they count."""
    yield "in memory", f"{memory.profile}: {memory.text()}"
    for each in inspection.working_sets.sets:
        name = "all"
        if each.window is not None:
            name = f"{each.window:,.0f} {inspection.working_sets.unit}"
        yield f"in memory, {name}", memory.figures(each)


def _traffic(inspection: Inspection) -> Iterator[tuple[str, str]]:
    arrivals, talk = inspection.arrivals, inspection.conversations
    if inspection.span_seconds is None:
        yield "arrivals", "no times"
    elif arrivals is not None:
        rate = f"{arrivals.requests_per_second:.3g} requests/s"
        span = format_seconds(inspection.span_seconds)
        yield "arrivals", f"{rate} for {span}, cv of gaps {arrivals.gap_cv:.2f}"
        if arrivals.tick_seconds is not None and arrivals.jittered_gap_cv is not None:
            clock = (
                f"{arrivals.distinct_times:,} different times, {arrivals.tick_seconds:g} s apart"
            )
            yield (
                "clock",
                f"{clock}; spread within ticks, cv of gaps {arrivals.jittered_gap_cv:.2f}",
            )
        for each in arrivals.dispersion:
            poisson = f"Poisson {each.poisson_low:.2f} to {each.poisson_high:.2f}"
            name = f"dispersion, {each.window_seconds:g} s"
            yield name, f"{each.index:,.2f} ({poisson}, {each.windows:,} windows)"
    if talk is not None:
        yield (
            "sessions",
            f"{talk.sessions:,}, {talk.turns.mean:.3g} turns each (most {talk.turns.max:,})",
        )
        if talk.continuing_share is not None:
            later = talk.requests - talk.sessions
            yield "turns that go on", share(round(talk.continuing_share * later), later)


def _laws(inspection: Inspection) -> Iterator[tuple[str, ...]]:
    talk = inspection.conversations
    rows = {
        "prompt length": inspection.prompt_length,
        "output length": inspection.output_length,
        "overlap": inspection.overlap,
        "used in between": inspection.reuse.tokens,
        "growth a turn": None if talk is None else talk.growth_tokens,
    }
    for name, law in rows.items():
        if law is not None:
            yield (name, *_figures(law))


def _figures(law: Quantiles) -> tuple[str, ...]:
    return tuple(f"{value:,.0f}" for value in (law.mean, law.p50, law.p90, law.p99, law.max))


def _coordinates(inspection: Inspection) -> Iterator[tuple[str, ...]]:
    laws: dict[str, Coordinates | None] = {"all": inspection.coordinates.all}
    if len(inspection.coordinates.by_label) > 1:
        laws |= dict(list(inspection.coordinates.by_label.items())[:MOST_LABELS])
    for label, law in laws.items():
        if law is None:
            yield label, "no overlap", "", "", ""
            continue
        for name in ("start", "end", "branch"):
            each = getattr(law, name)
            yield (
                label,
                f"{name}, sharpest" if name == law.sharpest else name,
                f"{100 * each.share_in_best_window:.1f} % of {law.hits:,}",
                f"{each.entropy_bits:.2f} bits",
                f"{100 * each.one_checkpoint_share:.1f} % at {each.one_checkpoint_tokens:,}",
            )
