"""The results of a drift study for each placer, with intervals."""

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
DEFAULT_WINDOW = 100  # the placer's default
AS_GOOD = 0.01  # share of the overlap: the most that a longer interval may lose


@dataclass(frozen=True, slots=True)
class Finding:
    """The results of one placer over all windows that count.

    Parameters
    ----------
    placer
        In canonical spelling, or `clairvoyant`, which knows the law of each window.
    saved_share
        Saved tokens / overlap tokens.
    lost_share
        The saved share of `clairvoyant` minus that of this placer.
    lost_tokens
        The same loss in tokens a request.
    regret_tokens, variation_bound_tokens, kolmogorov_bound_tokens
        Means over windows, in tokens a request.
    sample_bound_tokens
        The most that a plan made from as many requests as this placer uses loses, in tokens a
        request and at 95 % confidence, if their law does not change; None for `clairvoyant`.
    plans, rewritten
        New plans, and positions in them that the plan before lacked, per 1,000 requests.
    recovery_requests
        Requests after the largest change until the plan reaches 95 % of the best saving: the median
        of replications; None without a change, or where most of them never reach it.
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


def find_all(study: DriftStudy) -> dict[str, Finding]:
    """Return placer -> results, including `clairvoyant` and the other re-planning intervals."""
    names = (CLAIRVOYANT, *study.placers, *study.paced.values())
    return {placer: find(study, placer) for placer in names}


def find(study: DriftStudy, placer: str) -> Finding:
    """Return the results of one placer."""
    courses = [each.courses[placer] for each in study.replications]
    requests = study.windows.width * len(study.windows.counted) / 1000
    lost = difference(study, CLAIRVOYANT, placer)
    return Finding(
        placer,
        share(study, placer),
        lost,
        lost.value * _mean_overlap(study),
        _mean(courses, "regret_tokens"),
        _mean(courses, "variation_bound_tokens"),
        _mean(courses, "kolmogorov_bound_tokens"),
        _sample_bound(study, placer),
        float(np.mean([course.plans.sum() for course in courses])) / requests,
        float(np.mean([course.rewritten.sum() for course in courses])) / requests,
        _recovery(study, placer),
    )


def share(study: DriftStudy, placer: str) -> Estimate:
    """Return saved / overlap tokens, with an interval over replications or blocks of one trace."""
    if len(study.replications) > 1:
        return mean_interval(_shares(study, placer))
    return replay_difference(_ratio(study, placer), None, _memory(study))


def difference(study: DriftStudy, ours: str, theirs: str) -> Estimate:
    """Return the saved share of `ours` minus that of `theirs`, with a paired interval."""
    if len(study.replications) > 1:
        estimate = paired_difference(_shares(study, ours), _shares(study, theirs))
    else:
        estimate = replay_difference(_ratio(study, ours), _ratio(study, theirs), _memory(study))
    return margins_of(study).rate(estimate) or estimate


def margins_of(study: DriftStudy) -> Margins:
    """Return the margins, as shares of the overlap, within which differences are called tied."""
    return Margins.of(study.study)


def best_of(study: DriftStudy, findings: Mapping[str, Finding]) -> Finding:
    """Return the results of the placer that saves most, `clairvoyant` excluded."""
    return max((findings[p] for p in study.placers), key=lambda each: each.saved_share.value)


def against_best(study: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, Estimate]:
    """Return placer -> its saved share minus the best placer's, with Holm's correction."""
    best = best_of(study, findings).placer
    rivals = [placer for placer in study.placers if placer != best]
    estimates = corrected([difference(study, rival, best) for rival in rivals])
    return {rival: each for rival, each in zip(rivals, estimates, strict=True) if each is not None}


def slowest_as_good(study: DriftStudy) -> int:
    """Return the longest re-planning interval that costs at most one point of the saved share.

    The whole interval of the loss must be within that point, for it and all shorter intervals.
    """
    paces = [*study.paced]
    good = paces[0]
    for every in paces[1:]:
        lost = difference(study, study.paced[paces[0]], study.paced[every])
        if lost.ends[1] > AS_GOOD:
            break
        good = every
    return good


def over_time(study: DriftStudy, placer: str) -> Float64:
    """Return saved / overlap tokens of each window, summed over replications; 0 without overlap."""
    saved = np.sum([each.courses[placer].saved_tokens for each in study.replications], axis=0)
    overlap = np.sum([each.overlap_tokens for each in study.replications], axis=0)
    shares: Float64 = saved / np.maximum(overlap, 1.0)
    return shares


def kind(placer: str) -> str:
    """Return the kind of a placer: static, change, predicted, decay, window or clairvoyant."""
    if placer == CLAIRVOYANT:
        return CLAIRVOYANT
    given = parameters(placer)
    names = {"train": "static", "drift": "change", "predict": "predicted", "decay": "decay"}
    return next((names[key] for key in names if key in given), "window")


def label(placer: str) -> str:
    """Return a short name, such as "window 100, every 50"."""
    if placer == CLAIRVOYANT:
        return placer
    given = parameters(placer)
    text = {
        "static": f"kept after {given.get('train')}",
        "change": f"on change, window {given.get('window', DEFAULT_WINDOW)}",
        "predicted": f"{given.get('predict')}, decay {given.get('decay')}",
        "decay": f"decay {given.get('decay')}",
        "window": f"window {given.get('window', DEFAULT_WINDOW)}",
    }[kind(placer)]
    return text + (f", every {given['replan']}" if "replan" in given else "")


def as_json(
    study: DriftStudy, findings: Mapping[str, Finding], answers: list[str]
) -> dict[str, Any]:
    """Return all results as plain values."""
    windows, behind = study.windows, against_best(study, findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "milepost_version": study.milepost_version,
        "study": study.study,
        "laws": "true" if study.truth else "hindsight",
        "requests": len(study.replications[0].overlaps.depths),
        "replications": [each.overlaps.seed for each in study.replications],
        "windows": {
            "requests": windows.width,
            "count": windows.count,
            "first_counted": windows.first,
            "block": windows.block,
        },
        "margins": {"points": margins_of(study).points},
        "answers": answers,
        "change": study.distances.change,
        "steps": [_step(study, step) for step in study.distances.steps],
        "since_first": [_step(study, step) for step in study.distances.since_first],
        "placers": [
            _finding(findings[placer]) | {"against_best": _judged(behind.get(placer))}
            for placer in (CLAIRVOYANT, *study.placers)
        ],
        "by_interval": [
            {"replan": every, **_finding(findings[placer])} for every, placer in study.paced.items()
        ],
        "over_time": {
            placer: over_time(study, placer).tolist() for placer in (CLAIRVOYANT, *study.placers)
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    plain = asdict(finding)
    for name in ("saved_share", "lost_share"):
        plain[name].pop("freedom")
        plain[name].pop("margin")
        plain[name].pop("reason")
    return plain


def _judged(behind: Estimate | None) -> dict[str, Any] | None:
    """Return a difference to the best placer and its verdict as plain values."""
    if behind is None:
        return None
    names = ("value", "low", "high", "p_holm", "verdict")
    return {name: getattr(behind, name) for name in names}


def _step(study: DriftStudy, step: Any) -> dict[str, Any]:
    return {"request": study.windows.start(step.window), **asdict(step)}


def _shares(study: DriftStudy, placer: str) -> Float64:
    return np.array([_ratio(study, placer, at).value for at in range(len(study.replications))])


def _ratio(study: DriftStudy, placer: str, replication: int = 0) -> Ratio:
    each = study.replications[replication]
    return Ratio(each.courses[placer].saved_tokens, each.overlap_tokens)


def _memory(study: DriftStudy) -> float:
    """Return the number of windows for which the simulation remembers a request."""
    return study.replications[0].overlaps.memory_requests / study.windows.width


def _mean(courses: list[Course], name: str) -> float:
    return float(np.mean([getattr(course, name) for course in courses]))


def _mean_overlap(study: DriftStudy) -> float:
    """Return the mean overlap of the requests that count, in tokens."""
    sums = [each.overlap_tokens.sum() for each in study.replications]
    return float(np.mean(sums)) / (study.windows.width * len(study.windows.counted))


def _sample_bound(study: DriftStudy, placer: str) -> float | None:
    if placer == CLAIRVOYANT:
        return None
    given = parameters(placer)
    samples = float(given.get("train", given.get("window", DEFAULT_WINDOW)))
    if "decay" in given:
        factor = float(given["decay"])
        samples = (1 + factor) / (1 - factor)
    length = max(int(each.overlaps.depths.max()) for each in study.replications)
    return 4 * max(0, length - study.budget) * sqrt(log(2 / (1 - CONFIDENCE)) / (2 * samples))


def _recovery(study: DriftStudy, placer: str) -> float | None:
    times = [each.recovery_requests.get(placer) for each in study.replications]
    middle = median([float("inf") if time is None else time for time in times])
    return middle if np.isfinite(middle) else None
