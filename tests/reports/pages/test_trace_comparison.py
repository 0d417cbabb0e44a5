"""Tests of the report of `milepost trace compare`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from reports.charts.lint import checked
from reports.pages.trace_comparison import PANELS, TITLES, trace_comparison_report
from reports.report.html import render
from reports.trace.charts import trace_charts
from reports.trace.comparison.charts import comparison_charts
from reports.trace.comparison.comparing import Comparison, compare_traces
from tests.reports.browser import assert_sound, look_at
from tests.workloads.inspection.small_traces import trace_of
from workloads.inspection import inspect
from workloads.slicing.cutting import by_requests
from workloads.synthetic import SyntheticSpec, generate

HOSTILE = "</script><img src=x onerror=alert(1)>"


CHARTS = [name for group in PANELS.values() for name in group]


def page_of(comparison: Comparison) -> str:
    return render(trace_comparison_report(comparison, "milepost trace compare A B"))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    made = replace(generate(SyntheticSpec(seed=1, requests=600)), name=HOSTILE)
    return compare_traces(by_requests(made, None, 300), by_requests(made, 300, None))


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> str:
    return page_of(comparison)


def test_every_chart_has_a_place_and_every_measure_a_title(comparison: Comparison) -> None:
    charts = comparison_charts(comparison)
    assert sorted(charts) == sorted(CHARTS)
    assert {each.name for each in comparison.differences} == TITLES.keys()
    for chart in charts.values():
        checked(chart)


def test_the_page_is_closed_to_the_world_and_the_same_again(
    comparison: Comparison, page: str
) -> None:
    assert page == page_of(comparison)
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)


def test_the_page_says_what_the_terminal_says(comparison: Comparison, page: str) -> None:
    for each in comparison.of("beyond chance"):
        assert each.sentence[1:20] in unescape(page).replace("\N{NO-BREAK SPACE}", " ")
    assert page.count("<th scope=row>") == len(comparison.differences)


@pytest.mark.parametrize("prompts", [[[1]], [[1], [2]], [[1, 2]] * 40], ids=["one", "two", "many"])
def test_the_poorest_traces_have_a_page(prompts: list[list[int]]) -> None:
    trace = trace_of(prompts)
    comparison = compare_traces(trace, trace)
    page = page_of(comparison)
    assert page.count('class="chart"') == len(comparison_charts(comparison))
    json.dumps(comparison.as_json(), allow_nan=False)


def test_overlaps_are_drawn_as_on_the_page_of_one_trace() -> None:
    trace = trace_of([[1, 2, 3, 4], [1, 2, 3, 5], [1, 6], [7]])
    alone = trace_charts(inspect(trace))["survival"]
    beside = comparison_charts(compare_traces(trace, trace))["survival"]

    def points(chart: object, series: str) -> list[tuple[float, float]]:
        rows = [row for table in checked(chart)["datasets"].values() for row in table]
        return [(row["x"], row["y"]) for row in rows if row["series"] == series]

    expected = [(1, 0.5), (1, 0.25), (3, 0.25), (3, 0)]  # each step up to the next point
    assert points(alone, "requests") == expected
    assert points(beside, "A") == points(beside, "B") == expected


def test_arrivals_as_regular_as_a_clock_have_no_chart_of_bursts() -> None:
    trace = trace_of([[at % 3] for at in range(60)], times=[float(at) for at in range(60)])
    assert "dispersion" not in comparison_charts(compare_traces(trace, trace))


@pytest.mark.parametrize("width", [1280, 420])
def test_it_draws_in_a_browser(page: str, tmp_path: Path, width: int) -> None:
    assert_sound(look_at(page, tmp_path, width=width), len(CHARTS))
