"""Tests of the report of `milepost place`."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.charts.lint import checked
from reports.pages.place import place_report
from reports.place.charts import savings_curve, staircase
from reports.place.law_file import DepthLaw, law_of
from reports.place.placement import PlacementQuestion, answer
from reports.report.html import render
from tests.reports.browser import assert_sound, look_at

HOSTILE = "</script><img src=x onerror=alert(1)>"


def asked(law: DepthLaw, length: int, budget: int) -> dict[str, Any]:
    return answer(PlacementQuestion(law, length, budget))


def page_of(law: DepthLaw, length: int, budget: int) -> str:
    return render(place_report(law, asked(law, length, budget), "milepost place"))


@pytest.fixture(scope="module")
def law() -> DepthLaw:
    rng = np.random.default_rng(1)
    depths = np.sort(rng.choice(100_000, 2_000, replace=False)) + 1
    return law_of(HOSTILE, depths, rng.integers(1, 5, 2_000), 100.0)


def rows(spec: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the data set of a chart that has `field`."""
    return next(table for table in spec["datasets"].values() if field in table[0])


def test_the_areas_are_the_overlap_and_the_saving() -> None:
    law = law_of("law", np.array([4, 7, 10]), np.array([6.0, 3.0, 1.0]))
    plan = asked(law, 12, 2)
    spec = checked(staircase(law, plan["positions"], 12))
    steps = rows(spec, "gain")
    curve = next(t for t in spec["datasets"].values() if t is not steps)

    def area(points: list[dict[str, Any]]) -> float:
        return sum((b["depth"] - a["depth"]) * b["share"] for a, b in pairwise(points))

    assert area(steps) == pytest.approx(plan["expected_saved_tokens"])
    assert area(curve) == pytest.approx(plan["law"]["mean_overlap_tokens"])
    assert sum(row["gain"] or 0 for row in steps) == pytest.approx(plan["expected_saved_tokens"])


@pytest.mark.parametrize("budget", [0, 3, 1_501])
def test_large_laws_stay_small_on_the_page(law: DepthLaw, budget: int) -> None:
    plan = asked(law, 100_000, budget)
    for chart in (staircase(law, plan["positions"], 100_000), savings_curve(plan)):
        spec = checked(chart)
        assert max(len(table) for table in spec["datasets"].values()) <= 1_010
    curve = rows(checked(savings_curve(plan)), "saved")
    assert curve[-1]["budget"] == budget


def test_a_law_without_hits_has_a_page() -> None:
    law = law_of("misses", np.array([0]), np.array([3.0]))
    assert "n/a" in page_of(law, 1, 2)


def test_a_page_says_how_many_checkpoints_it_leaves_out(law: DepthLaw) -> None:
    page = page_of(law, 100_000, 1_501)
    assert page.count("<th scope=row>") == 500 + 21  # 20 budgets and the last
    assert "Only the first 1,000 steps are drawn." in page
    assert "has the first 500 checkpoints" in page


def test_the_page_is_closed_to_the_world_and_the_same_again(law: DepthLaw) -> None:
    page = page_of(law, 100_000, 5)
    assert page == page_of(law, 100_000, 5)
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)


def test_it_draws_in_a_browser(law: DepthLaw, tmp_path: Path) -> None:
    seen = look_at(page_of(law, 100_000, 5), tmp_path)
    assert_sound(seen, 2)
