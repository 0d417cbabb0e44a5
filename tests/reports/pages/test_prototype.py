"""Tests of the report of `milepost prototype`, with hand-made runs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from calibration.prototype.served import PrototypeRun
from reports.charts.lint import checked
from reports.pages.prototype import prototype_report
from reports.prototype.charts import prototype_charts
from reports.report.html import render
from reports.report.terminal import print_report
from tests.calibration.prototype.requests import run_of, served
from tests.reports.browser import assert_sound, look_at

HOSTILE = "</script><img src=x onerror=alert(1)>"


def many(requests: int) -> PrototypeRun:
    random = np.random.default_rng(1)
    saved = random.integers(0, 2, requests) * 64
    seconds = random.lognormal(-3, 1, requests)
    return run_of(
        *(
            served(
                number,
                float(time * random.uniform(0.8, 1.1)),
                float(time),
                saved_tokens=int(saved[number]),
                overlap_tokens=int(saved[number]),
                positions=(80,) if number % 3 == 0 else (),
            )
            for number, time in enumerate(seconds)
        ),
        trace=HOSTILE,
        placer=HOSTILE,
    )


def page_of(run: PrototypeRun) -> str:
    return render(prototype_report(run, "milepost prototype"))


@pytest.fixture(scope="module")
def run() -> PrototypeRun:
    return many(60)


def test_the_page_is_closed_to_the_world_and_the_same_again(run: PrototypeRun) -> None:
    page = page_of(run)
    assert page == page_of(run)
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)


def test_charts_stay_small_and_fit_their_data() -> None:
    for chart in prototype_charts(many(9_000)).values():
        spec = checked(chart)
        assert max(len(table) for table in spec["datasets"].values()) <= 5_000


def test_page_and_text_tell_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    report = prototype_report(
        run_of(served(0, 1.1, 1.0), served(1, 1.8, 2.0, arrival_seconds=50.0)), "milepost prototype"
    )
    print_report(report)
    page, text = render(report), capsys.readouterr().out
    assert report.data["service"][0]["median_absolute"] == pytest.approx(0.1)
    sentence = "within <strong>10.0 % of the measured time</strong>; their sum is off by ~3.3 %"
    signs = {"\N{NO-BREAK SPACE}": " ", "\N{MINUS SIGN}": "~"}
    assert sentence in page.translate(str.maketrans(signs))
    assert re.search(r"all +2 +2\.90 s +3\.00 s +-3\.3% +[+-]0\.0% +10\.0%", text)


def test_what_a_reader_should_weigh_is_said() -> None:
    page = page_of(
        run_of(
            served(0, 1.0, 1.0, simulated_wait_seconds=9.0),
            model="b",
            profile_model="a",
            dtype="bfloat16",
            scale="one layer group",
        )
    )
    for sentence in (
        "The profile is of a, and b was run",
        "One layer group was run",
        "compared in bfloat16",
        "More than half of the simulated time",
        "decided once",
    ):
        assert sentence in page


def test_one_pass_says_nothing_of_noise() -> None:
    page = page_of(run_of(served(passes_seconds=(1.0,))))
    assert "lie an unknown way apart" in page


def test_it_draws_in_a_browser_in_the_dark(run: PrototypeRun, tmp_path: Path) -> None:
    seen = look_at(page_of(run), tmp_path, dark=True)
    assert_sound(seen, 3)
    assert seen["paper"] == "rgb(20, 23, 27)"
