"""The content of the report of `milepost drift` on page, terminal and in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from reports.caveats import granularity, noted
from reports.drift.charts import STEPS, drift_charts, followed, regret_colours, shown
from reports.drift.findings import Finding, against_best, as_json, best_of, find_all, kind, label
from reports.drift.stored import JSON, PAGE, read_series
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.pages.drift.sentences import against_words, answers, percent, points
from reports.palette import BLUE, GREY
from reports.report import Number, Panel, Panels, Range, Report, Section, Strong, Table
from reports.statistics import Estimate

GROUPS = {
    "Does the law move?": ("law", "kolmogorov", "variation"),
    "Who follows it?": ("savings", "regret"),
    "Which window, how fast, what is rewritten?": ("windows", "pace", "churn"),
}
HEAD = (
    "Estimator",
    "Saved of the overlap",
    "Against the best, points",
    "Less than clairvoyant, points",
    "Regret, tokens a request",
    "At most, by TV",
    "By Kolmogorov",
    "By sample size",
    "Plans per 1,000 requests",
    "Positions rewritten per 1,000 requests",
    "Recovers after, requests",
)
BRIEF = (0, 1, 2, 3, 4, 8, 9)


def kept_report(folder: Path) -> Report:
    """Return the report of the drift study stored in a folder; raises what `read_series` does."""
    return drift_report(read_series(folder))


def drift_report(study: DriftStudy) -> Report:
    """Return the report of a drift study."""
    findings = find_all(study)
    first, second, *more = sentences = answers(study, findings)
    behind = against_best(study, findings)
    return Report(
        kind="drift",
        title=study.study.get("title") or f"How the law of {_name(study)} moves",
        sections=(
            Section(
                answer=(f"{first} ", Strong(second)),
                also=tuple(more),
                numbers=_numbers(study, findings),
                blocks=(
                    *_groups(study, findings),
                    Table(
                        title="Every estimator",
                        id="estimators",
                        head=HEAD,
                        rows=[_row(findings[p], behind) for p in (CLAIRVOYANT, *study.placers)],
                        brief=BRIEF,
                    ),
                ),
            ),
        ),
        caveats=tuple(_caveats(study)),
        command=study.command,
        data=as_json(study, findings, sentences),
        page_file=PAGE,
        data_file=JSON,
        milepost_version=study.milepost_version,
    )


def _name(study: DriftStudy) -> str:
    return study.replications[0].overlaps.name or "the trace"


def _numbers(study: DriftStudy, findings: Mapping[str, Finding]) -> tuple[Number, ...]:
    steps, best = study.distances.steps, best_of(study, findings)
    moved = sum(step.moved for step in steps)
    farthest = max(study.distances.since_first, key=lambda each: each.kolmogorov)
    kept = next((findings[p] for p in study.placers if kind(p) == "static"), None)
    return (
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
    )


def _groups(study: DriftStudy, findings: Mapping[str, Finding]) -> Iterator[Panels]:
    """Yield the groups of charts; the selector of the range shown stands above the first."""
    panels = {panel.id: panel for panel in _panels(study, findings)}
    range = Range(0, study.windows.count * study.windows.width, "requests")
    for number, (title, names) in enumerate(GROUPS.items()):
        inside = tuple(panels[name] for name in names if name in panels)
        if inside:
            yield Panels(title=title, panels=inside, range=None if number else range)


def _panels(study: DriftStudy, findings: Mapping[str, Finding]) -> Iterator[Panel]:
    """Yield the charts that have data."""
    width = f"{study.windows.width:,} requests"
    chance = ("chance alone, 95 %", GREY)
    band, budget = "grey: 95 % of splits at random", f"{study.budget} checkpoints"
    lines = {label(placer): colour for placer, colour in shown(study, findings).items()}
    placer, paced = followed(study, findings), label(study.paced[min(study.paced)])
    laws = "the true law" if study.truth else "the law of its own requests"
    steps, away = (
        sum(each.moved for each in distances)
        for distances in (study.distances.steps, study.distances.since_first)
    )
    misses = bool((study.replications[0].overlaps.depths == 0).any())
    texts: dict[str, tuple[str, str, str, tuple[tuple[str, str], ...]]] = {
        "law": (
            "The law of overlap depths",
            f"How deep overlaps go in windows of {width}; the darker, the more",
            f"Each column is a window of {width}, each row a range of depths; the stronger the "
            "colour, the more of the window's requests end there (strongest from a half on)."
            + " In the lowest row are requests without overlap."
            * misses,
            (),
        ),
        "kolmogorov": (
            "How far windows are apart",
            f"Kolmogorov distance of windows of {width}; {band}",
            "The largest difference of the distribution functions. The grey band holds 95 % of "
            "splits of the same requests at random, and depends little on how many depths there "
            f"are. Beyond chance after Holm's correction for all comparisons: {steps} steps, and "
            f"{away} windows from the first.",
            (*STEPS.items(), chance),
        ),
        "variation": (
            "The same in total variation",
            f"Total variation between windows of {width}; {band}",
            "Half the L1 distance: the share of requests that would have to change. Two samples of "
            "one law on many depths lie far apart, so it says nothing without its band.",
            (*STEPS.items(), chance),
        ),
        "savings": (
            "What plans save over time",
            f"What plans save over time, {budget}",
            f"Saved tokens over overlapping tokens, by window, with {budget}. "
            "Of each kind of estimator the best is drawn; the table has all.",
            tuple(lines.items()),
        ),
        "regret": (
            "Regret beside the theorem's bounds",
            f"Regret of {label(placer)} beside the theorem's bounds",
            f"What the plan of {label(placer)} at the beginning of a window loses under {laws} "
            "against the best plan for it, and the most that this could be. A bound above the mean "
            "overlap says nothing.",
            tuple(regret_colours(placer).items()),
        ),
        "windows": (
            "Which window",
            f"What windows of each length save, {budget}",
            "A short window plans for chance, a long one for what is gone.",
            (("windows", BLUE),),
        ),
        "pace": (
            "How fast to re-plan",
            f"What {paced} loses if it plans less often; grey: 95 %",
            f"What {paced} loses if it plans less often, paired, with the 95 % interval.",
            (("loss", BLUE), ("95 %", GREY)),
        ),
        "churn": (
            "Checkpoints rewritten",
            "Positions that plans have rewritten",
            "Positions of each new plan that the one before had not, summed. Each is a state that "
            "has to be stored again for every prefix that comes by.",
            tuple(lines.items()),
        ),
    }
    for name, chart in drift_charts(study, findings).items():
        title, alone, caption, swatches = texts[name]
        yield Panel(name, title, caption, chart, swatches, image_title=alone)


def _row(finding: Finding, behind: Mapping[str, Estimate]) -> tuple[str, ...]:
    recovers = "" if finding.recovery_requests is None else f"{finding.recovery_requests:,.0f}"
    regret, plans = f"{finding.regret_tokens:,.1f}", f"{finding.plans:.3g}"
    rewritten, sample = f"{finding.rewritten:.3g}", finding.sample_bound_tokens
    own = label(finding.placer), percent(finding.saved_share)
    if finding.placer == CLAIRVOYANT:
        return *own, "", "", regret, "", "", "", plans, rewritten, recovers
    return (
        *own,
        against_words(behind.get(finding.placer)).replace(" points", ""),
        points(finding.lost_share).replace(" points", ""),
        regret,
        f"{finding.variation_bound_tokens:,.0f}",
        f"{finding.kolmogorov_bound_tokens:,.0f}",
        "" if sample is None else f"{sample:,.0f}",
        plans,
        rewritten,
        recovers,
    )


def _caveats(study: DriftStudy) -> Iterator[str]:
    """Yield the caveats of the study."""
    windows, overlaps = study.windows, study.replications[0].overlaps
    yield from noted(overlaps.notes)
    yield from granularity(overlaps.granularity)
    yield (
        "Savings are of plans on overlaps alone: a request saves the deepest planned position that "
        "its overlap reaches, as if whoever came before had stored a state there. In a cache, a "
        "new plan helps only once a request has written it, and states of older plans still help; "
        "capacity, eviction and queues come on top. `milepost sweep` replays the same study."
    )
    yield (
        "Depths of all prompts are pooled into one law, counted from the start, and one plan holds "
        "for prompts of every length."
    )
    yield (
        "Clairvoyant re-planning knows the true law of the generator in the middle of each "
        "window, and plans once a window. Even without drift that law changes while prefixes "
        "are still new, which is seen as drift."
        if study.truth
        else "Clairvoyant re-planning is hindsight: the best plan for the very requests of the "
        "coming window, not only for their law. So even the best estimator of a law that does not "
        "move stays behind."
    )
    yield (
        f"The no-drift band keeps {windows.block} consecutive requests together. Dependence over "
        "more of them makes windows look farther apart than chance would put them."
    )
    yield (
        f"Intervals are of {len(study.replications)} replications, differences paired. Law and "
        "distances are those of the first."
        if len(study.replications) > 1
        else "There is one trace: intervals come from drawing blocks of windows again, and say "
        "what more of the same traffic would show, drift included."
    )
    yield (
        f"The first {windows.start(windows.first):,} requests are warm-up: shown in the law, not "
        "counted anywhere."
    )
