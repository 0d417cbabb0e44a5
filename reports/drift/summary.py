"""What `milepost drift` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.console import print_line, print_table
from reports.drift.findings import Finding, label
from reports.drift.sentences import percent, points
from reports.drift.study import CLAIRVOYANT, DriftStudy

HEAD = (
    "estimator",
    "saved of the overlap",
    "less than clairvoyant",
    "regret",
    "plans",
    "rewritten",
)


def print_drift(found: DriftStudy, findings: Mapping[str, Finding], answers: Sequence[str]) -> None:
    """Print the answers, and a row for each estimator."""
    for answer in answers:
        print_line(answer)
    print()
    rows = [_row(findings[placer]) for placer in (CLAIRVOYANT, *found.placers)]
    print_table(HEAD, rows)
    print_line("regret in tokens a request; plans and positions rewritten for 1,000 requests")


def _row(finding: Finding) -> tuple[str, ...]:
    ahead = finding.placer == CLAIRVOYANT
    return (
        label(finding.placer),
        percent(finding.saved_share),
        "" if ahead else points(finding.lost_share),
        f"{finding.regret_tokens:,.1f}",
        f"{finding.plans:.3g}",
        f"{finding.rewritten:.3g}",
    )
