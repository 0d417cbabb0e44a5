"""Captions of the charts of a trace: a sentence or two each, with figures of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.trace.charts import span_name
from reports.words import percent
from simulator.base.units import format_count, format_seconds

if TYPE_CHECKING:
    from workloads.inspection import Inspection
    from workloads.inspection.law import Quantiles

COUNTED_FROM = {
    "start": "from the start of the prompt",
    "end": "from its end",
    "branch": "from the last branch point",
}
GOOD_FIT = 0.05


def tokens(count: float) -> str:
    """Return a number of tokens with three digits and a unit prefix, such as "16.6 M tokens"."""
    for letter, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= 0.9995 * size:
            return f"{count / size:.3g} {letter} tokens"
    return f"{format_count(count)} tokens"


def survival(inspection: Inspection) -> str:
    """Say how many requests overlap, and how far."""
    law, hits = inspection.overlap, format_count(inspection.reuse.hits)
    return (
        f"{hits} of {format_count(inspection.requests)} requests begin like "
        f"an earlier one. The mean overlap is {tokens(law.mean)}; one request in ten shares "
        f"{tokens(law.p90)} or more. Overlaps end at {format_count(inspection.distinct_depths)} "
        "different depths."
    )


def concentration(inspection: Inspection) -> str:
    """Say from which point of the prompt the ends of overlaps are most concentrated.

    The points are the start, the end and the last branch point. Also say where one checkpoint per
    prompt saves most.
    """
    law = inspection.coordinates.all
    assert law is not None
    held = {name: getattr(law, name).share_in_best_window for name in COUNTED_FROM}
    saved = {name: getattr(law, name).one_checkpoint_share for name in COUNTED_FROM}
    others = [
        f"{percent(held[name])} {COUNTED_FROM[name]}" for name in held if name != law.sharpest
    ]
    best = max(saved, key=saved.__getitem__)
    return (
        f"Overlaps lie closest together when they are counted {COUNTED_FROM[law.sharpest]}: "
        f"{percent(held[law.sharpest])} end in one window of {law.window_tokens} tokens, against "
        f"{' and '.join(others)}. If each prompt had one checkpoint, it would save most "
        f"{_place(best, getattr(law, best).one_checkpoint_tokens)}: {percent(saved[best])} of the "
        "overlapping tokens."
    )


def _place(coordinate: str, count: int) -> str:
    """Return a position in words, such as "1,632 tokens before the end"."""
    if not count:
        return {"start": "at the start", "end": "at the end"}.get(coordinate, "at the branch point")
    how = {"start": "from the start", "end": "before the end"}.get(coordinate)
    return f"{format_count(count)} tokens {how or 'behind the last branch point'}"


def timeline(inspection: Inspection) -> str:
    """Say how the hit rate of an unbounded cache changes over time."""
    quarters = _quarters(inspection)
    rates = " and ".join(
        f"{percent(rate)} in the {name} quarter"
        for name, rate in zip(("first", "last"), (quarters[0], quarters[-1]), strict=True)
    )
    drifts = abs(quarters[-1] - quarters[1]) > 0.1
    meaning = "the traffic changes" if drifts else "beyond the start there is little change"
    return f"An unbounded cache with a state everywhere saves {rates} of the trace: {meaning}."


def _quarters(inspection: Inspection) -> list[float]:
    """Return the token hit rate of each quarter of the time windows; 0 without tokens."""
    line = inspection.timeline
    count = len(line.start)
    rates = []
    for quarter in range(4):
        part = slice(
            quarter * count // 4, max((quarter + 1) * count // 4, quarter * count // 4 + 1)
        )
        rates.append(sum(line.saved_tokens[part]) / max(sum(line.prompt_tokens[part]), 1))
    return rates


def lru(inspection: Inspection) -> str:
    """Say how much KV an LRU cache needs."""
    needed = inspection.lru.tokens_for_share
    return (
        f"An LRU cache that keeps {tokens(needed['90%'])} of KV saves 90 % of what an unbounded "
        f"one saves, one of {tokens(needed['50%'])} half of it. States are not counted: they need "
        "room of their own."
    )


def working_set(inspection: Inspection) -> str:
    """Say how many distinct tokens are in use."""
    sets = inspection.working_sets
    parts = [
        f"within {span_name(each.window, sets.unit)} {tokens(each.mean_tokens)} (peak "
        f"{tokens(each.peak_tokens)})"
        for each in sets.sets
        if each.window is not None
    ]
    whole = tokens(sets.sets[-1].peak_tokens)
    if not parts:
        return f"In all, the trace uses {whole} of distinct prefixes."
    return f"On average the trace uses {', '.join(parts)}; in all it uses {whole}."


def reuse(inspection: Inspection) -> str:
    """Say how soon prefixes are used again."""
    law, seconds, requests = inspection.reuse, inspection.reuse.seconds, inspection.reuse.requests
    assert requests is not None
    assert law.tokens is not None
    if seconds is not None and seconds.max > 0:
        soon = f"{format_seconds(seconds.p50)}, nine in ten within {format_seconds(seconds.p90)}"
    else:
        soon = f"{format_count(requests.p50)} requests, nine in ten within "
        soon += format_count(requests.p90)
    return (
        f"Half of the tokens that are used again are used within {soon}. Meanwhile half of them "
        f"see {tokens(law.tokens.p50)} or more of distinct prefixes, which is what an LRU cache "
        "has to hold until then."
    )


def popularity(inspection: Inspection) -> str:
    """Say how uneven the use of prefixes is, and whether Zipf's law describes it."""
    law = inspection.popularity
    opening = (
        f"{percent(law.used_again_share)} of the distinct tokens are in more than one prompt; the "
        f"most used 1 % make {percent(law.top_shares['1.0%'])} of all prompt tokens."
    )
    if law.zipf is None:
        return opening
    fit = "fits" if law.zipf.largest_error <= GOOD_FIT else "fits badly"
    return (
        f"{opening} Over those, Zipf's law with exponent {law.zipf.exponent:.2f} {fit}: cumulative "
        f"shares differ by up to {100 * law.zipf.largest_error:.1f} points."
    )


def lengths(inspection: Inspection) -> str:
    """Say how long prompts and outputs are."""
    prompts = f"Prompts: {_law(inspection.prompt_length)}."
    if not inspection.output_tokens:
        return f"{prompts} The trace does not tell the outputs."
    return f"{prompts} Outputs: {_law(inspection.output_length)}."


def _law(law: Quantiles) -> str:
    return (
        f"half have at most {tokens(law.p50)}, one in a hundred more than {tokens(law.p99)}, the "
        f"longest {tokens(law.max)}"
    )


def rate(inspection: Inspection) -> str:
    """Say how many requests arrive, and how evenly."""
    arrivals = inspection.arrivals
    assert arrivals is not None
    mean = f"{arrivals.requests_per_second:.3g} requests arrive each second on average."
    if arrivals.tick_seconds is None or arrivals.jittered_gap_cv is None:
        return f"{mean} The gaps between them vary with a cv of {arrivals.gap_cv:.2f} (Poisson: 1)."
    clock = f"there are only {format_count(arrivals.distinct_times)} different times"
    return (
        f"{mean} Their gaps tell of the clock, not of the traffic: {clock}, in ticks of "
        f"{format_seconds(arrivals.tick_seconds)}. The cv of the gaps is {arrivals.gap_cv:.2f}; "
        f"with arrivals spread within their tick it is {arrivals.jittered_gap_cv:.2f} (Poisson: 1)."
    )


def dispersion(inspection: Inspection) -> str:
    """Say at which time scales arrivals are burstier than Poisson."""
    assert inspection.arrivals is not None
    windows = inspection.arrivals.dispersion
    bursty = [each for each in windows if each.index > each.poisson_high]
    if not bursty:
        return (
            "At every length of window the counts vary no more than a Poisson process (grey band)."
        )
    worst = max(bursty, key=lambda each: each.index)
    times = format_count(worst.index) if worst.index >= 100 else f"{worst.index:.3g}"
    return (
        f"In windows of {format_seconds(worst.window_seconds)} the variance of the counts is "
        f"{times} times their mean. A Poisson process lies in the grey band; {len(bursty)} of "
        f"{len(windows)} window lengths are above it."
    )


def turns(inspection: Inspection) -> str:
    """Say how many turns sessions have, and whether each turn continues the prompt before it."""
    talk = inspection.conversations
    assert talk is not None
    opening = (
        f"{format_count(talk.requests)} requests belong to {format_count(talk.sessions)} sessions, "
        f"{talk.turns.mean:.3g} turns each on average, the longest {format_count(talk.turns.max)}."
    )
    if talk.continuing_share is None:
        return opening
    return (
        f"{opening} {percent(talk.continuing_share)} of the later turns begin with the whole "
        "prompt of the turn before."
    )


PANELS = {  # group -> name of a chart -> its title, and the function that writes its caption
    "Overlaps": {
        "survival": ("How far prompts overlap", survival),
        "concentration": ("Where overlaps end", concentration),
    },
    "What a cache could save": {
        "lru": ("How much KV it takes", lru),
        "reuse": ("How soon a prefix is used again", reuse),
        "popularity": ("How popular prefixes are", popularity),
    },
    "Traffic": {
        "lengths": ("Prompts and outputs", lengths),
        "turns": ("Sessions", turns),
        "dispersion": ("Burstiness of the arrivals", dispersion),
    },
    "Over time": {  # the working set in bytes is added where a profile is given
        "timeline": ("What could be saved, over time", timeline),
        "working_set": ("The working set", working_set),
        "rate": ("Arrivals over time", rate),
    },
}
