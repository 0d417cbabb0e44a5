"""Tests of the page of a drift study, as HTML and in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from reports.charts.lint import checked
from reports.drift.findings import Finding, find_all
from reports.drift.study import DriftStudy, run
from reports.pages.drift import drift_report
from reports.pages.drift.report import GROUPS
from reports.pages.drift.sentences import answers, tied
from reports.report.html import render, typeset
from reports.study.layers import read_settings
from tests.reports.browser import assert_sound, look_at

HOSTILE = "</script><img src=x onerror=alert(1)>"
SETTINGS = {
    "title": HOSTILE,
    "workload.generator": "system_prompts:count=6",
    "workload.drift": "rewrites:times=1,moved=600",
    "workload.requests": 1000,
    "grid.policy.placer": [
        "optimal:budget=2,train=200",
        "optimal:budget=2,window=50",
        "optimal:budget=2,window=200",
        "optimal:budget=2,decay=0.98",
        "optimal:budget=2,window=100,drift=0.01",
    ],
}

Drift = tuple[DriftStudy, dict[str, Finding]]


@pytest.fixture(scope="module")
def drift() -> Drift:
    study = run(read_settings(None, [(key, value, "a test") for key, value in SETTINGS.items()]))
    return study, find_all(study)


@pytest.fixture(scope="module")
def page(drift: Drift) -> str:
    return render(drift_report(drift[0]))


def test_every_chart_has_a_place_and_a_sentence(drift: Drift, page: str) -> None:
    charts = {panel.id: panel.chart for panel in drift_report(drift[0]).panels}
    assert list(charts) == [name for names in GROUPS.values() for name in names]
    for chart in charts.values():
        assert max(len(table) for table in checked(chart)["datasets"].values()) <= 2_000
    assert page.count("<figcaption>") == len(charts)  # which the script tells screen readers


def test_one_rule_says_who_is_tied_in_sentences_table_and_json(drift: Drift, page: str) -> None:
    study, findings = drift
    wide = replace(study, study={**study.study, "study": {"margin_points": 100.0}})
    rivals = len(study.placers) - 1
    for each, expected in ((study, None), (wide, {"tied"})):
        report = drift_report(each)
        document = report.data
        judged = [p["against_best"] for p in document["placers"] if p["against_best"]]
        assert len(judged) == rivals
        verdicts = {row["verdict"] for row in judged}
        assert verdicts == (expected or verdicts)
        assert verdicts <= {"worse", "tied", "unsure"}
        (sentence,) = tied(each, findings)
        assert ("Tied with it" in sentence) == ("tied" in verdicts)
        assert ("Unsure" in sentence) == ("unsure" in verdicts)
        assert f"within {document['margins']['points']:g} points" in sentence
        shown = render(report)
        assert sum(shown.count(f"], {name}</td>") for name in verdicts) == rivals


def test_the_page_is_closed_to_the_world_and_answers_in_sentences(drift: Drift, page: str) -> None:
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)
    for sentence in answers(*drift):
        assert typeset(sentence) in unescape(page)


ACTIONS = """
  const over = ["law", "kolmogorov", "variation", "savings", "regret", "churn"];
  const ticks = (name) => [...page.querySelector(`#${name} .role-axis-label`)
    .querySelectorAll("text")].map((label) => label.textContent).sort().join(" ");
  const before = over.map(ticks);
  const others = ["windows", "pace"].map(ticks);
  const [from] = page.querySelectorAll(".range input");
  from.value = 500;
  from.dispatchEvent(new view.Event("input", { bubbles: true }));
  await wait(500);
  return { before, after: over.map(ticks), kept: ["windows", "pace"].map(ticks), others,
    range: page.querySelector(".range output").textContent };
"""


def test_it_draws_in_a_browser_in_the_dark_and_shows_a_range(page: str, tmp_path: Path) -> None:
    seen = look_at(page, tmp_path, actions=ACTIONS, dark=True)
    assert_sound(seen, 8)
    assert min(seen["marks"]) >= 2
    assert seen["paper"] == "rgb(20, 23, 27)"
    assert seen["range"] == "500 to 1,000 requests"
    assert all(now != before for now, before in zip(seen["after"], seen["before"], strict=True))
    assert seen["kept"] == seen["others"]
