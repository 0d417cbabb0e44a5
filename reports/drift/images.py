"""The charts of a drift study as images, each of which stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.charts.theme import CONFIG
from reports.drift.charts import drift_charts, followed
from reports.drift.findings import Finding, label
from reports.drift.study import DriftStudy


def titled_charts(found: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """Return the charts by name, each with a title that says what is seen, and on what."""
    titles = _titles(found, findings)
    charts = drift_charts(found, findings)
    for name, chart in charts.items():
        chart.title = titles[name]
        chart.config = alt.Config(**CONFIG)
    return charts


def _titles(found: DriftStudy, findings: Mapping[str, Finding]) -> dict[str, str]:
    windows = f"windows of {found.windows.width:,} requests"
    chance = "grey: 95 % of splits at random"
    paced = label(found.paced[min(found.paced)])
    return {
        "law": f"How deep overlaps go in {windows}; the darker, the more",
        "kolmogorov": f"Kolmogorov distance of {windows}; {chance}",
        "variation": f"Total variation between {windows}; {chance}",
        "savings": f"What plans save over time, {found.budget} checkpoints",
        "regret": f"Regret of {label(followed(found, findings))} beside the theorem's bounds",
        "windows": f"What windows of each length save, {found.budget} checkpoints",
        "pace": f"What {paced} loses if it plans less often; grey: 95 %",
        "churn": "Positions that plans have rewritten",
    }
