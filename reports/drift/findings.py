"""What a drift study finds of each placer, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import log, sqrt
from statistics import median
from typing import Any

import numpy as np

from reports.drift.evaluation import Course
from reports.drift.laws import Float64
from reports.drift.planning import parameters
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.results.margins import Margins
from reports.statistics import (
    CONFIDENCE,
    Estimate,
    Ratio,
    corrected,
    mean_interval,
    paired_difference,
    replay_difference,
)

SCHEMA_VERSION = 1
DEFAULT_WINDOW = 100  # of the placer, where it states none


@dataclass(frozen=True, slots=True)
class Finding:
    """One placer over all windows that count.

    Parameters
    ----------
    placer
        In canonical spelling, or `clairvoyant`.
    saved_share
        Saved tokens / overlap tokens.
    lost_share
        The same of `clairvoyant`, less this.
    lost_tokens
        That, in tokens a request.
    regret_tokens, variation_bound_tokens, kolmogorov_bound_tokens
        Means over windows, in tokens a request.
    sample_bound_tokens
        What a plan from so many requests of one law loses at most at 95 %; None for `clairvoyant`.
    plans, rewritten
        New plans, and positions that the plan before had not, for 1,000 requests.
    recovery_requests
        After the largest change until 95 % of the best are saved again, the median of replications;
        None where there is none, or more than half of them never recover.
    """

    placer: str
    saved_share: Estimate
    lost_share: Estimate
    lost_tokens: float
    regret_tokens: float
    variation_bound_tokens: float
    kolmogorov_bound_tokens: float
    sample_bound_tokens: float | None
    plans: float
    rewritten: float
    recovery_requests: float | None


def find_all(found: DriftStudy) -> dict[str, Finding]:
    """Sum up all placers of the study, `clairvoyant` and those of other paces among them."""
    names = (CLAIRVOYANT, *found.placers, *found.paced.values())
    return {placer: find(found, placer) for placer in names}


def find(found: DriftStudy, placer: str) -> Finding:
    """Sum up a placer of the study."""
    courses = [each.courses[placer] for each in found.replications]
    requests = found.windows.width * len(found.windows.counted) / 1000
    lost = difference(found, CLAIRVOYANT, placer)
    return Finding(
        placer,
        share(found, placer),
        lost,
        lost.value * _mean_overlap(found),
        _mean(courses, "regret_tokens"),
        _mean(courses, "variation_bound_tokens"),
        _mean(courses, "kolmogorov_bound_tokens"),
        _sample_bound(found, placer),
        float(np.mean([course.plans.sum() for course in courses])) / requests,
        float(np.mean([course.rewritten.sum() for course in courses])) / requests,
        _recovery(found, placer),
    )


def share(found: DriftStudy, placer: str) -> Estimate:
    """Return saved tokens / overlap tokens: over replications, or over blocks of one trace."""
    if len(found.replications) > 1:
        return mean_interval(_shares(found, placer))
    return replay_difference(_ratio(found, placer), None, _memory(found))


def difference(found: DriftStudy, ours: str, theirs: str) -> Estimate:
    """Return the same of one placer less that of another, paired."""
    if len(found.replications) > 1:
        told = paired_difference(_shares(found, ours), _shares(found, theirs))
    else:
        told = replay_difference(_ratio(found, ours), _ratio(found, theirs), _memory(found))
    return margins_of(found).rate(told) or told


def margins_of(found: DriftStudy) -> Margins:
    """Return within what shares of the overlap are called tied."""
    return Margins.of(found.study)


def best_of(found: DriftStudy, findings: Mapping[str, Finding]) -> Finding:
    """Return the placer that saves most, of those that do not look ahead."""
    return max((findings[p] for p in found.placers), key=lambda each: each.saved_share.value)


def against_best(found: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, Estimate]:
    """Return what each other placer saves less that of the best, corrected for all of them."""
    best = best_of(found, findings).placer
    rivals = [placer for placer in found.placers if placer != best]
    told = corrected([difference(found, rival, best) for rival in rivals])
    return {rival: each for rival, each in zip(rivals, told, strict=True) if each is not None}


def over_time(found: DriftStudy, placer: str) -> Float64:
    """Return saved / overlap tokens in each window, over all replications; 0 without overlap."""
    saved = np.sum([each.courses[placer].saved_tokens for each in found.replications], axis=0)
    overlap = np.sum([each.overlap_tokens for each in found.replications], axis=0)
    shares: Float64 = saved / np.maximum(overlap, 1.0)
    return shares


def kind(placer: str) -> str:
    """Return how a placer follows the law: static, change, decay, window or clairvoyant."""
    if placer == CLAIRVOYANT:
        return CLAIRVOYANT
    given = parameters(placer)
    names = {"train": "static", "drift": "change", "decay": "decay"}
    return next((names[key] for key in names if key in given), "window")


def label(placer: str) -> str:
    """Return a short name, such as "window 100, every 50"."""
    if placer == CLAIRVOYANT:
        return placer
    given = parameters(placer)
    told = {
        "static": f"kept after {given.get('train')}",
        "change": f"on change, window {given.get('window', DEFAULT_WINDOW)}",
        "decay": f"decay {given.get('decay')}",
        "window": f"window {given.get('window', DEFAULT_WINDOW)}",
    }[kind(placer)]
    return told + (f", every {given['replan']}" if "replan" in given else "")


def as_json(
    found: DriftStudy, findings: Mapping[str, Finding], answers: list[str]
) -> dict[str, Any]:
    """Return all of it as plain values."""
    windows, behind = found.windows, against_best(found, findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "milepost_version": found.milepost_version,
        "study": found.study,
        "laws": "true" if found.truth else "hindsight",
        "requests": len(found.replications[0].overlaps.depths),
        "replications": [each.overlaps.seed for each in found.replications],
        "windows": {
            "requests": windows.width,
            "count": windows.count,
            "first_counted": windows.first,
            "block": windows.block,
        },
        "margins": {"points": margins_of(found).points},
        "answers": answers,
        "change": found.distances.change,
        "steps": [_step(found, step) for step in found.distances.steps],
        "since_first": [_step(found, step) for step in found.distances.since_first],
        "placers": [
            _finding(findings[placer]) | {"against_best": _judged(behind.get(placer))}
            for placer in (CLAIRVOYANT, *found.placers)
        ],
        "by_interval": [
            {"replan": every, **_finding(findings[placer])} for every, placer in found.paced.items()
        ],
        "over_time": {
            placer: over_time(found, placer).tolist() for placer in (CLAIRVOYANT, *found.placers)
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    told = asdict(finding)
    for name in ("saved_share", "lost_share"):
        told[name].pop("freedom")
        told[name].pop("margin")
        told[name].pop("reason")
    return told


def _judged(behind: Estimate | None) -> dict[str, Any] | None:
    """Return what a placer saves less the best, and what may be said of it."""
    if behind is None:
        return None
    names = ("value", "low", "high", "p_holm", "verdict")
    return {name: getattr(behind, name) for name in names}


def _step(found: DriftStudy, step: Any) -> dict[str, Any]:
    return {"request": found.windows.start(step.window), **asdict(step)}


def _shares(found: DriftStudy, placer: str) -> Float64:
    return np.array([_ratio(found, placer, at).value for at in range(len(found.replications))])


def _ratio(found: DriftStudy, placer: str, replication: int = 0) -> Ratio:
    each = found.replications[replication]
    return Ratio(each.courses[placer].saved_tokens, each.overlap_tokens)


def _memory(found: DriftStudy) -> float:
    """Return for how many windows a request is remembered."""
    return found.replications[0].overlaps.memory_requests / found.windows.width


def _mean(courses: list[Course], name: str) -> float:
    return float(np.mean([getattr(course, name) for course in courses]))


def _mean_overlap(found: DriftStudy) -> float:
    """Return the mean overlap of the requests that count, in tokens."""
    sums = [each.overlap_tokens.sum() for each in found.replications]
    return float(np.mean(sums)) / (found.windows.width * len(found.windows.counted))


def _sample_bound(found: DriftStudy, placer: str) -> float | None:
    if placer == CLAIRVOYANT:
        return None
    given = parameters(placer)
    samples = float(given.get("train", given.get("window", DEFAULT_WINDOW)))
    if "decay" in given:
        factor = float(given["decay"])
        samples = (1 + factor) / (1 - factor)
    length = max(int(each.overlaps.depths.max()) for each in found.replications)
    return 4 * max(0, length - found.budget) * sqrt(log(2 / (1 - CONFIDENCE)) / (2 * samples))


def _recovery(found: DriftStudy, placer: str) -> float | None:
    times = [each.recovery_requests.get(placer) for each in found.replications]
    middle = median([float("inf") if time is None else time for time in times])
    return middle if np.isfinite(middle) else None
