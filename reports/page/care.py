"""The "read with care" box: what the facts of a study say against its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.results.comparison import differences
from reports.results.marks import LOOKS_AHEAD, UPPER_BOUND
from reports.results.overload import RULE
from reports.results.points import Point, WorldPoints
from reports.statistics import MOST_WARMUP_SHARE
from simulator.base.units import format_count

_PROFILES = {
    "composed": "was composed from timings of single operators, not measured end to end",
    "analytic": "is a roofline estimate from datasheet figures; nothing was measured",
    "toy": "is of a toy, to try things out: its times say nothing of a real model",
}
MOST_FAILED = 5
MOST_NAMED = 6


def read_with_care(worlds: Sequence[WorldPoints], manifest: Mapping[str, Any]) -> list[str]:
    """Return one plain sentence for each fact that a reader should weigh."""
    points = [point for world in worlds for point in world.points.values()]
    return [
        *_failures(points, manifest),
        *_evidence(points, manifest),
        *_corrected(worlds),
        *_warmup(manifest),
        *_counted(points),
        *_overloaded(worlds),
        *(f"{note[:1].upper()}{note[1:]}." for note in manifest.get("capacity_notes", [])),
        *_traces(manifest),
        *_profile(points, manifest.get("profile", {})),
        *_policies(worlds),
        "Decode is not simulated: time to first token is wait, restore, prefill and capture.",
    ]


def _failures(points: Sequence[Point], manifest: Mapping[str, Any]) -> Iterator[str]:
    failed = sum(point.failed for point in points)
    if not failed:
        return
    everything = failed + sum(len(point.rows) for point in points)
    errors = dict.fromkeys(str(item.get("error")) for item in manifest.get("failed", []))
    shown = "; ".join([*errors][:MOST_FAILED])
    reasons = f" ({shown})" if shown else ""
    yield f"{failed} of {everything} cells failed and are missing from every number{reasons}."


def _evidence(points: Sequence[Point], manifest: Mapping[str, Any]) -> Iterator[str]:
    methods = {p.token_hit_rate.method for p in points if p.token_hit_rate}
    if "replications" in methods:
        yield (
            f"Intervals: 95 %, Student's t over {manifest.get('replications')} replications, "
            "paired by their random numbers. With few replications they are wide."
        )
    wanted = manifest.get("until_ci")
    if wanted and not wanted["reached"]:
        yield (
            f"Intervals were asked to be within {100 * wanted['share']:g} %; the widest still was "
            "not when the most replications were reached."
        )
    if "draws" in methods:
        yield (
            f"Intervals: 95 %, over {manifest.get('replications')} draws of the cost coefficients "
            "from the uncertainty of their fit, each replication with one: where another draw "
            "would lie, not the error of the mean, which more draws would make small."
        )
    if "blocks" in methods:
        yield (
            "Intervals: 95 %, from the blocks of time of one replay. They tell how much "
            "the answer hangs on these hours of traffic, not what another trace would show."
        )
    if "none" in methods:
        reasons = [e.reason for p in points if (e := p.token_hit_rate) and e.reason]
        reason = reasons[0] if reasons else "one short replay is too short to tell"
        yield f"Some figures have no interval: {reason}."


def _corrected(worlds: Sequence[WorldPoints]) -> Iterator[str]:
    made = [each for each in differences(worlds) if each is not None and each.tested]
    if made:
        yield (
            "“Better” and “worse” are said of differences that stand Holm's correction for all "
            f"{len(made):,} comparisons of this study: the chance that any of them is none is at "
            "most 5 %. “Tied” is said where the whole interval is within "
            f"{worlds[0].margins.text}, “unsure” where neither can be said."
        )


def _warmup(manifest: Mapping[str, Any]) -> Iterator[str]:
    share, by_workload = manifest.get("warmup_share") or 0, manifest.get("warmup_auto")
    if by_workload:
        yield from _cut_warmup(by_workload)
    elif share:
        yield f"Warm-up: the first {100 * share:g} % of the requests are served but not counted."
    else:
        yield "No warm-up was cut: the misses of the empty cache are counted."


def _cut_warmup(shares: Mapping[str, float]) -> Iterator[str]:
    """Say what MSER-5 cut of each workload, and where it found no end."""
    cuts = " and ".join(f"{100 * share:g} % of {name}" for name, share in shares.items())
    yield (
        f"Warm-up, by MSER-5: the first {cuts} are served but not counted: the largest cut of all "
        "policies and capacities, the same for all of them, so that differences stay paired."
    )
    endless = [name for name, share in shares.items() if share >= MOST_WARMUP_SHARE]
    if endless:
        yield (
            f"Warm-up: half of {' and '.join(endless)} was cut, the most that MSER-5 looks at. The "
            "run may be too short to settle, or the traffic keeps changing."
        )


def _counted(points: Sequence[Point]) -> Iterator[str]:
    rejected = sum(point.total("requests_rejected") for point in points)
    unfinished = sum(point.total("requests_unfinished") for point in points)
    if rejected or unfinished:
        yield (
            f"{format_count(rejected)} rejected and {format_count(unfinished)} unfinished requests "
            "stay in the denominator of the token hit rate and are missing from TTFT."
        )


def _overloaded(worlds: Sequence[WorldPoints]) -> Iterator[str]:
    """Say where more work arrives than the server can do, and by which rule."""
    behind = [
        (f"{point.series.name} at {point.capacity}" + (f" on {world.name}" if world.name else ""))
        for world in worlds
        for point in world.points.values()
        if point.total("queue_grows")
    ]
    if not behind:
        return
    everything = sum(bool(point.rows) for world in worlds for point in world.points.values())
    where = "" if len(behind) == everything else f": {_listed(behind)}"
    yield (
        f"Overload: in {len(behind)} of {everything} points the queue grows to the end of the "
        f"trace{where}. Their times to first token tell how long the trace is, not what users of a "
        f"steady server would see: fewer requests per second or more replicas. {RULE}"
    )


def _traces(manifest: Mapping[str, Any]) -> Iterator[str]:
    several = manifest.get("workloads")
    if not several:
        yield from _trace(manifest.get("trace", {}), "The trace")
    for name, trace in (several or {}).items():
        yield from (
            text if text.startswith(name) else f"{name}: {text}" for text in _trace(trace, name)
        )


def _trace(trace: Mapping[str, Any], name: str) -> Iterator[str]:
    granularity = trace.get("granularity") or 1
    if granularity > 1:
        yield (
            f"{name} tells overlaps to whole blocks of {format_count(granularity)} tokens: "
            "checkpoint positions are floored to that, and finer placement cannot show its worth."
        )
    yield from (str(note).rstrip(".") + "." for note in trace.get("notes", []))


def _profile(points: Sequence[Point], profile: Mapping[str, Any]) -> Iterator[str]:
    what = _PROFILES.get(str(profile.get("kind")))
    if profile.get("kind") == "sizes":
        yield f"The profile {profile.get('id')} tells sizes only: there are no times."
    if what:
        yield f"Times rest on the profile {profile.get('id')}, which {what}."
    if profile.get("scale", "whole") != "whole":
        yield f"The profile was timed as {profile['scale']}, not on the whole model."
    yield from _compressed(profile.get("lossy") or {})
    yield from _uncertain(profile)
    for warning in profile.get("warnings") or ():
        yield f"The profile warns: {str(warning).rstrip('.')}."
    beyond = sum(point.total("extrapolated_requests") for point in points)
    if beyond:
        ranges = [
            f"{text} of {format_count(profile[key])} tokens"
            for key, text in (("valid_n_max", "suffixes"), ("valid_c_max", "contexts"))
            if profile.get(key)
        ]
        limits = f" (measured up to {' and '.join(ranges)})" if ranges else ""
        served = sum(point.total("requests_total") for point in points)
        yield (
            f"{format_count(beyond)} of {format_count(served)} request times are extrapolated "
            f"beyond the profile's range{limits}."
        )


def _compressed(lossy: Mapping[str, str]) -> Iterator[str]:
    for name, kept in lossy.items():
        yield (
            f"Lossy: with the profile {name} {kept}, so answers differ from those of the model "
            "itself. Bytes are counted; no prefill gets faster by it, and packing takes no time."
        )


def _uncertain(profile: Mapping[str, Any]) -> Iterator[str]:
    band = profile.get("band")
    if band and not profile.get("draws"):
        yield (
            f"The times of the profile are known to about {100 * band:.2g} % (95 %, from the "
            "residuals of its fit), which no interval here includes: model.draws = true does that."
        )


def _policies(worlds: Sequence[WorldPoints]) -> Iterator[str]:
    series = {s.name: s.marks for world in worlds for s in world.series}
    bounds = [name for name, marks in series.items() if UPPER_BOUND in marks]
    seers = [name for name, marks in series.items() if LOOKS_AHEAD in marks]
    if bounds:
        verb = "holds" if len(bounds) == 1 else "hold"
        yield f"{_listed(bounds)} {verb} a state at every position for free: an upper bound only."
    if seers:
        verb = "looks" if len(seers) == 1 else "look"
        yield (
            f"{_listed(seers)} {verb} ahead in the trace, which no real system can: shown to "
            "compare with, and never the answer where there is another."
        )
    if any(point.bound_tokens for world in worlds for point in world.points.values()):
        yield (
            "“Best possible” is a bound for requests served one after another: no placer, "
            "admission and eviction policy can exceed it, and perhaps none can reach it."
        )


def _listed(names: Sequence[str]) -> str:
    """Return the names, the last few only counted where there are many."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
