"""The answers of a drift study, as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from reports.drift.findings import (
    DEFAULT_WINDOW,
    Finding,
    against_best,
    best_of,
    difference,
    kind,
    label,
    margins_of,
    slowest_as_good,
)
from reports.drift.planning import parameters
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.statistics import Estimate


def answers(study: DriftStudy, findings: Mapping[str, Finding]) -> list[str]:
    """Return the sentences that answer the questions of a drift study.

    In order: whether the law of overlaps changes, which window of past requests fits best, how
    often to update the plan, what an outdated plan costs, and how many positions are rewritten.
    """
    return [
        moved(study),
        which(study, findings),
        *tied(study, findings),
        how_fast(study),
        *recovery(study, findings),
        wrong(study, findings),
        churn(study, findings),
    ]


def moved(study: DriftStudy) -> str:
    """Say whether the law of overlaps changes significantly, and when most."""
    windows, steps = study.windows, study.distances.steps
    beyond = [step for step in steps if step.moved]
    away = [each for each in study.distances.since_first if each.moved]
    largest = study.distances.largest
    if largest is not None:
        verb = "are" if len(beyond) > 1 else "is"
        return (
            f"The law of overlap depths moves: between windows of {windows.width:,} requests "
            f"{len(beyond)} of {len(steps)} steps {verb} beyond chance, the largest at about "
            f"request {study.distances.change:,}: Kolmogorov distance {largest.kolmogorov:.2f}, "
            f"where chance stays within {largest.kolmogorov_band:.2f}."
        )
    if away:
        return (
            f"The law of overlap depths moves slowly: no step between windows of "
            f"{windows.width:,} requests is beyond chance, but {len(away)} of "
            f"{len(study.distances.since_first)} windows differ from the first; the last is at "
            f"Kolmogorov distance {study.distances.since_first[-1].kolmogorov:.2f}."
        )
    return (
        f"No drift is seen: no window of {windows.width:,} requests differs from the one before or "
        "from the first beyond chance."
    )


def which(study: DriftStudy, findings: Mapping[str, Finding]) -> str:
    """Say which way of tracking the law of overlaps saves most."""
    best = best_of(study, findings)
    return (
        f"Of the estimators, {quoted(best.placer)} saves most: {percent(best.saved_share)} of the "
        f"overlap, {points(best.lost_share)} less than clairvoyant re-planning."
    )


def tied(study: DriftStudy, findings: Mapping[str, Finding]) -> list[str]:
    """Say which ways are tied with the best or not distinguished from it.

    Also say whether the best window is the longest or shortest of those tried.
    """
    best, within = best_of(study, findings), margins_of(study).of_rates
    behind = against_best(study, findings)
    ties = [label(p) for p, each in behind.items() if each.verdict in ("tied", "equal")]
    unsure = [label(p) for p, each in behind.items() if each.verdict == "unsure"]
    sentences = [
        f"Tied with it, within {within}: {'; '.join(ties)}."
        if ties
        else f"No other is tied with it, within {within}."
    ]
    if unsure:
        sentences.append(f"Unsure, as the difference may be chance: {'; '.join(unsure)}.")
    return [" ".join(sentences) + _at_the_end(study, best)]


def _at_the_end(study: DriftStudy, best: Finding) -> str:
    """Return a clause where the best window is the longest or shortest of those tried."""
    lengths = {
        placer: int(parameters(placer).get("window", DEFAULT_WINDOW))
        for placer in study.placers
        if kind(placer) == "window"
    }
    ends = {"longer": max, "shorter": min}
    if len(lengths) > 1:
        for name, end in ends.items():
            if lengths.get(best.placer) == end(lengths.values()):
                return f" No {name} window was tried."
    return ""


def how_fast(study: DriftStudy) -> str:
    """Say how many requests may pass between two estimates of the law of overlaps."""
    paces = [*study.paced]
    fastest = study.paced[paces[0]]
    good = slowest_as_good(study)
    if good == paces[0]:
        lost = difference(study, fastest, study.paced[paces[1]])
        return (
            f"Re-plan every {good:,} requests or more often: re-planning every {paces[1]:,} saves "
            f"{points(lost)} of the overlap less."
        )
    lost = difference(study, fastest, study.paced[good])
    opening = (
        f"Re-planning every {good:,} requests is as good as every {paces[0]:,}, to a point: it "
        f"saves {points(lost)} of the overlap less"
    )
    slower = [every for every in paces if every > good]
    if not slower:
        return f"{opening}, and no longer interval was tried."
    much = difference(study, fastest, study.paced[slower[0]])
    return f"{opening}. For every {slower[0]:,} it is {points(much)}."


def recovery(study: DriftStudy, findings: Mapping[str, Finding]) -> list[str]:
    """Say which ways recover first, last and never after the largest change.

    A way has recovered when it saves 95 % of what the best one saves.
    """
    if study.distances.change is None:
        return []
    times = {placer: findings[placer].recovery_requests for placer in study.placers}
    known = ((time, placer) for placer, time in times.items() if time is not None)
    back = sorted(known, key=lambda pair: pair[0])
    never = [quoted(placer) for placer, time in times.items() if time is None]
    change = f"{study.distances.change:,}"
    opening = f"After the change at about request {change}, 95 % of the best is saved again"
    if not back:
        return [f"{opening} by none."]
    ends = [f"by {quoted(placer)} {_later(time)}" for time, placer in back]
    parts = ends[:1] + [f"{ends[-1]} at the latest"] * (len(ends) > 1)
    parts += [f"never by {' and '.join(never)}"] * bool(never)
    return [f"{opening} {', '.join(parts)}."]


def _later(requests: float) -> str:
    return f"{requests:,.0f} requests later" if requests else "at once"


def wrong(study: DriftStudy, findings: Mapping[str, Finding]) -> str:
    """Say what an outdated plan costs, which choice is worst, and what bound theory gives."""
    best = best_of(study, findings)
    worst = min((findings[p] for p in study.placers), key=lambda each: each.saved_share.value)
    kept = next((findings[p] for p in study.placers if kind(p) == "static"), best)
    others = [each for each in dict.fromkeys((kept.placer, worst.placer)) if each != best.placer]
    behind = against_best(study, findings)
    costs = "; ".join(_costs(best, findings[each], behind[each]) for each in others)
    bound = min(worst.variation_bound_tokens, worst.kolmogorov_bound_tokens)
    return (
        f"What being wrong costs, against the best: {costs or 'nothing was tried'}. The theorem "
        f"allows {quoted(worst.placer)} to lose {bound:,.0f} tokens a request; it loses "
        f"{worst.regret_tokens:,.0f}."
    )


def churn(study: DriftStudy, findings: Mapping[str, Finding]) -> str:
    """Say how many checkpoint positions change from plan to plan."""
    best = best_of(study, findings)
    opening = (
        f"For 1,000 requests {quoted(best.placer)} changes its plan {best.plans:.3g} times and "
        f"rewrites {best.rewritten:.3g} positions"
    )
    changed = next((findings[p] for p in study.placers if kind(p) == "change"), best)
    if changed is best:
        return f"{opening}; clairvoyant re-planning rewrites {findings[CLAIRVOYANT].rewritten:.3g}."
    lost = difference(study, best.placer, changed.placer)
    return (
        f"{opening}. Re-planning on change alone rewrites {changed.rewritten:.3g} and saves "
        f"{points(lost)} of the overlap less."
    )


def percent(estimate: Estimate) -> str:
    """Return "87.1 % [86.0, 88.2]"."""
    return f"{100 * estimate.value:.1f} %{_interval(estimate)}"


def points(estimate: Estimate) -> str:
    """Return "2.1 points [1.0, 3.2]"."""
    return f"{100 * estimate.value:.1f} points{_interval(estimate)}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return " (no interval)"
    return f" [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def against_words(behind: Estimate | None) -> str:
    """Return "-2.1 points [-3.2, -1.0], worse"; "the best" for the best itself."""
    if behind is None:
        return "the best"
    return points(behind) + ("" if behind.verdict == "unknown" else f", {behind.verdict}")


def quoted(placer: str) -> str:
    """Return the short name of a placer in quotation marks."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{label(placer)}\N{RIGHT DOUBLE QUOTATION MARK}"


def _costs(best: Finding, other: Finding, behind: Estimate) -> str:
    tokens = other.lost_tokens - best.lost_tokens
    verdict = f", {behind.verdict}" if behind.verdict in ("tied", "unsure") else ""
    lost = points(behind.opposite)
    return f"{quoted(other.placer)} {lost} of the overlap, {tokens:,.0f} tokens a request{verdict}"
