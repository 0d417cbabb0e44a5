"""What `milepost drift` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.console import print_line, print_table
from reports.drift.findings import Finding, against_best, label
from reports.drift.sentences import against_words, percent, points
from reports.drift.study import CLAIRVOYANT, DriftStudy
from reports.statistics import Estimate

HEAD = (
    "estimator",
    "saved of the overlap",
    "against the best",
    "less than clairvoyant",
    "regret",
    "plans",
    "rewritten",
)


def print_drift(study: DriftStudy, findings: Mapping[str, Finding], answers: Sequence[str]) -> None:
    """Print the answers, and a row for each estimator."""
    for answer in answers:
        print_line(answer)
    print()
    behind = against_best(study, findings)
    rows = [_row(findings[placer], behind) for placer in (CLAIRVOYANT, *study.placers)]
    print_table(HEAD, rows)
    print_line("regret in tokens a request; plans and positions rewritten for 1,000 requests")


def _row(finding: Finding, behind: Mapping[str, Estimate]) -> tuple[str, ...]:
    ahead = finding.placer == CLAIRVOYANT
    return (
        label(finding.placer),
        percent(finding.saved_share),
        "" if ahead else against_words(behind.get(finding.placer)),
        "" if ahead else points(finding.lost_share),
        f"{finding.regret_tokens:,.1f}",
        f"{finding.plans:.3g}",
        f"{finding.rewritten:.3g}",
    )
