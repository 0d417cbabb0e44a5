"""The charts of a drift study as images, each of which stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.charts.theme import CONFIG
from reports.drift.charts import drift_charts, followed
from reports.drift.findings import Finding, label
from reports.drift.study import DriftStudy


def titled_charts(study: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """Return the charts by name, each with a title that says what is seen, and on what."""
    titles = _titles(study, findings)
    charts = drift_charts(study, findings)
    for name, chart in charts.items():
        chart.title = titles[name]
        chart.config = alt.Config(**CONFIG)
    return charts


def _titles(study: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, str]:
    windows = f"windows of {study.windows.width:,} requests"
    chance = "grey: 95 % of splits at random"
    paced = label(study.paced[min(study.paced)])
    return {
        "law": f"How deep overlaps go in {windows}; the darker, the more",
        "kolmogorov": f"Kolmogorov distance of {windows}; {chance}",
        "variation": f"Total variation between {windows}; {chance}",
        "savings": f"What plans save over time, {study.budget} checkpoints",
        "regret": f"Regret of {label(followed(study, findings))} beside the theorem's bounds",
        "windows": f"What windows of each length save, {study.budget} checkpoints",
        "pace": f"What {paced} loses if it plans less often; grey: 95 %",
        "churn": "Positions that plans have rewritten",
    }
