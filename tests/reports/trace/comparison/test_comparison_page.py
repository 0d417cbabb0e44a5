"""The page of `milepost trace compare`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from reports.charts.lint import checked
from reports.trace.comparison.charts import comparison_charts
from reports.trace.comparison.comparing import Comparison, compare_traces
from reports.trace.comparison.page import CHARTS, GROUPS, TITLES, render_comparison_page
from tests.reports.browser import assert_sound, look_at
from tests.workloads.inspection.small_traces import trace_of
from workloads.slicing.cutting import by_requests
from workloads.synthetic import SyntheticSpec, generate

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    made = replace(generate(SyntheticSpec(seed=1, requests=600)), name=HOSTILE)
    return compare_traces(by_requests(made, None, 300), by_requests(made, 300, None))


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> str:
    return render_comparison_page(comparison)


def test_every_chart_has_a_place_and_every_measure_a_title(comparison: Comparison) -> None:
    charts = comparison_charts(comparison)
    assert charts.keys() == CHARTS.keys()
    assert sorted(CHARTS) == sorted(name for names in GROUPS.values() for name in names)
    assert {each.name for each in comparison.differences} == TITLES.keys()
    for chart in charts.values():
        checked(chart)


def test_the_page_is_closed_to_the_world_and_the_same_again(
    comparison: Comparison, page: str
) -> None:
    assert page == render_comparison_page(comparison)
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
    page = render_comparison_page(comparison)
    assert page.count('class="chart"') == len(comparison_charts(comparison))
    json.dumps(comparison.as_json(), allow_nan=False)


@pytest.mark.parametrize("width", [1280, 420])
def test_it_draws_in_a_browser(page: str, tmp_path: Path, width: int) -> None:
    assert_sound(look_at(page, tmp_path, width=width), len(CHARTS))
