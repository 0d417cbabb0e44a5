"""The page of a drift study: one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.drift.charts import STEPS, drift_charts, followed, regret_colours, shown
from reports.drift.findings import Finding, against_best, best_of, kind, label
from reports.drift.notes import notes
from reports.drift.sentences import against_words, percent, points
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.page.answer import Number
from reports.page.document import render
from reports.page.panel import Panel, Range, described
from reports.palette import BLUE, GREY
from reports.statistics import Estimate

GROUPS = {
    "Does the law move?": ("law", "kolmogorov", "variation"),
    "Who follows it?": ("savings", "regret"),
    "Which window, how fast, what is rewritten?": ("windows", "pace", "churn"),
}
HEADINGS = (
    "Estimator",
    "Saved of the overlap",
    "Against the best, points",
    "Less than clairvoyant, points",
    "Regret, tokens a request",
    "At most, by TV",
    "By Kolmogorov",
    "By sample size",
    "Plans a 1,000 requests",
    "Positions rewritten",
    "Recovers after, requests",
)


def render_page(study: DriftStudy, findings: Mapping[str, Finding], answers: list[str]) -> str:
    """Return the page as HTML; the same input gives the same bytes."""
    charts = drift_charts(study, findings)
    panels = {panel.id: panel for panel in _panels(study, findings)}
    behind = against_best(study, findings)
    groups = [
        (title, [panels[name] for name in names if name in charts])
        for title, names in GROUPS.items()
    ]
    return render(
        "drift.html",
        described(charts, panels.values()),
        brand="Milepost drift",
        title=study.study.get("title") or f"How the law of {_name(study)} moves",
        version=study.milepost_version,
        command=study.command,
        answers=answers,
        numbers=_numbers(study, findings),
        range=Range(0, study.windows.count * study.windows.width, "requests"),
        groups=[(title, inside) for title, inside in groups if inside],
        headings=HEADINGS,
        rows=[_row(findings[placer], behind) for placer in (CLAIRVOYANT, *study.placers)],
        notes=notes(study),
    )


def _name(study: DriftStudy) -> str:
    return study.replications[0].overlaps.name or "the trace"


def _numbers(study: DriftStudy, findings: Mapping[str, Finding]) -> list[Number]:
    """Return the four numbers."""
    steps, best = study.distances.steps, best_of(study, findings)
    moved = sum(step.moved for step in steps)
    farthest = max(study.distances.since_first, key=lambda each: each.kolmogorov)
    kept = next((findings[p] for p in study.placers if kind(p) == "static"), None)
    return [
        Number(
            "Windows beyond chance",
            f"{moved} of {len(steps)}",
            f"from the one before; {study.windows.width:,} requests each",
        ),
        Number(
            "Farthest from the first",
            f"{farthest.kolmogorov:.2f}",
            f"Kolmogorov distance; chance stays within {farthest.kolmogorov_band:.2f}",
        ),
        Number(
            "Saved of the overlap",
            f"{100 * best.saved_share.value:.1f} %",
            f"{label(best.placer)}; {points(best.lost_share)} less than clairvoyant",
        ),
        Number(
            "Lost by a plan that is kept",
            "n/a" if kept is None else f"{kept.lost_tokens - best.lost_tokens:,.0f} tokens",
            "" if kept is None else f"a request; {label(kept.placer)}",
        ),
    ]


def _panels(study: DriftStudy, findings: Mapping[str, Finding]) -> list[Panel]:
    width = f"{study.windows.width:,} requests"
    chance = (("chance alone, 95 %", GREY),)
    lines = tuple((label(placer), colour) for placer, colour in shown(study, findings).items())
    placer = followed(study, findings)
    laws = "the true law" if study.truth else "the law of its own requests"
    return [
        Panel(
            "law",
            "The law of overlap depths",
            f"Each column is a window of {width}, each row a range of depths; the stronger the "
            "colour, the more of the window's requests end there (strongest from a half on)."
            f"{_misses(study)}",
        ),
        Panel(
            "kolmogorov",
            "How far windows are apart",
            "The largest difference of the distribution functions. The grey band holds 95 % of "
            "splits of the same requests at random, and depends little on how many depths there "
            f"are. {_moved(study)}",
            (*STEPS.items(), *chance),
        ),
        Panel(
            "variation",
            "The same in total variation",
            "Half the L1 distance: the share of requests that would have to change. Two samples of "
            "one law on many depths lie far apart, so it says nothing without its band.",
            (*STEPS.items(), *chance),
        ),
        Panel(
            "savings",
            "What plans save over time",
            f"Saved tokens over overlapping tokens, by window, with {study.budget} checkpoints. "
            "Of each kind of estimator the best is drawn; the table has all.",
            lines,
        ),
        Panel(
            "regret",
            "Regret beside the theorem's bounds",
            f"What the plan of {label(placer)} at the beginning of a window loses under {laws} "
            "against the best plan for it, and the most that this could be. A bound above the mean "
            "overlap says nothing.",
            tuple(regret_colours(placer).items()),
        ),
        Panel(
            "windows",
            "Which window",
            "A short window plans for chance, a long one for what is gone.",
            (("windows", BLUE),),
        ),
        Panel(
            "pace",
            "How fast to re-plan",
            f"What {label(study.paced[min(study.paced)])} loses if it plans less often, paired, "
            "with the 95 % interval.",
            (("loss", BLUE), ("95 %", GREY)),
        ),
        Panel(
            "churn",
            "Checkpoints rewritten",
            "Positions of each new plan that the one before had not, summed. Each is a state that "
            "has to be stored again for every prefix that comes by.",
            lines,
        ),
    ]


def _moved(study: DriftStudy) -> str:
    """Say how many windows lie beyond the band after all comparisons."""
    counts = [sum(each.moved for each in steps) for steps in _lists(study)]
    return (
        f"Beyond chance when all comparisons are allowed for (Holm): {counts[0]} steps, and "
        f"{counts[1]} windows from the first."
    )


def _misses(study: DriftStudy) -> str:
    some = bool((study.replications[0].overlaps.depths == 0).any())
    return " In the lowest row are requests without overlap." if some else ""


def _lists(study: DriftStudy) -> Sequence[Any]:
    return study.distances.steps, study.distances.since_first


def _row(finding: Finding, behind: Mapping[str, Estimate]) -> tuple[str, ...]:
    recovers, sample = finding.recovery_requests, finding.sample_bound_tokens
    ahead = finding.placer == CLAIRVOYANT
    return (
        label(finding.placer),
        percent(finding.saved_share),
        "" if ahead else against_words(behind.get(finding.placer)).replace(" points", ""),
        "" if ahead else points(finding.lost_share).replace(" points", ""),
        f"{finding.regret_tokens:,.1f}",
        "" if ahead else f"{finding.variation_bound_tokens:,.0f}",
        "" if ahead else f"{finding.kolmogorov_bound_tokens:,.0f}",
        "" if sample is None else f"{sample:,.0f}",
        f"{finding.plans:.3g}",
        f"{finding.rewritten:.3g}",
        "" if recovers is None else f"{recovers:,.0f}",
    )
