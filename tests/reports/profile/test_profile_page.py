"""The page and the figures of `milepost profiles show`."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from calibration.catalogue import open_profile
from reports.charts.lint import checked
from reports.pages.profile import profile_report
from reports.profile.charts import profile_charts
from reports.profile.summary import Landmarks, own_band, residuals, summary
from reports.report.html import render
from reports.report.store import write_to
from reports.report.value import Report
from simulator.base.errors import UsageError
from simulator.costs.profile import Profile
from tests.reports.browser import assert_sound, look_at
from tests.reports.profiles_with_draws import profile_with_draws


def report_of(profile: Profile) -> Report:
    return profile_report(profile.profile_id, profile, "milepost profiles show NAME")


HOSTILE = "a </script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def drawn_profile() -> Profile:
    return profile_with_draws(warning=HOSTILE)


def test_landmarks_of_the_composed_9b() -> None:
    # Floor 4.8 ms up to about 235 tokens, some 20 us a token, a pair 2.1e-4 us.
    landmarks = Landmarks.of(open_profile("qwen3.5-9b-h200"))
    assert landmarks.floor_seconds == pytest.approx(4.8e-3, rel=0.02)
    assert landmarks.token_seconds == pytest.approx(20.4e-6, rel=0.02)
    assert landmarks.knee_tokens == pytest.approx(235, rel=0.02)
    assert landmarks.context_tokens == pytest.approx(landmarks.token_seconds / 2.09e-10, rel=0.01)


def test_landmarks_without_pairs() -> None:
    profile = open_profile("qwen3.5-9b-h200")
    free = replace(profile, prefill=replace(profile.prefill, e_us_per_pair=0.0))
    assert Landmarks.of(free).context_tokens is None
    assert "pairs cost nothing" in render(report_of(free))


def test_summary_worked_by_hand(drawn_profile: Profile) -> None:
    figures = summary(drawn_profile)
    assert figures["capture_seconds"] == pytest.approx(1e-6)
    assert figures["restore_seconds"] == {"device": pytest.approx(1e-6 + 2**20 / 1e12)}
    assert figures["draws"] == 6
    assert set(figures["prefill_seconds"]) == {"1", "64", "65", "128", "256", "512"} | {
        "1024",
        "2048",
        "4096",
        "8192",
    }
    assert figures["held_out"][0]["regime"] == "all"


def test_floors_by_launch(drawn_profile: Profile) -> None:
    assert summary(drawn_profile)["floor_seconds_by_launch"] == {}
    prefill = replace(drawn_profile.prefill, floor_eager_us=4000.0, floor_graph_us=1500.0)
    both = replace(drawn_profile, prefill=prefill)
    assert summary(both)["floor_seconds_by_launch"] == {"eager": 4e-3, "graph": 1.5e-3}
    spec = checked(profile_charts(both)["own"])
    assert any(
        row == {"level": 1.5, "name": "floor as a graph"}
        for t in spec["datasets"].values()
        for row in t
    )


def test_residuals_are_those_of_the_fit(drawn_profile: Profile) -> None:
    c, n, error = residuals(drawn_profile)
    assert len(c) == len(n) == len(error) == 18
    first = (c[0], n[0])
    assert first == (0, 1)
    predicted, measured = drawn_profile.prefill.F.us[0], (drawn_profile.prefill.median or ())[0]
    assert error[0] == pytest.approx(predicted / measured - 1, abs=1e-6)
    assert abs(float(error.mean())) < 0.1
    assert len(residuals(open_profile("qwen3.5-9b-h200"))[0]) == 0


def test_the_band_holds_f(drawn_profile: Profile) -> None:
    ends = own_band(drawn_profile)
    assert ends is not None
    for low, us, high in zip(ends[0], drawn_profile.prefill.F.us, ends[1], strict=True):
        assert low <= high
        assert low * 0.7 < us * 1e-6 < high * 1.4
    assert own_band(open_profile("qwen3.5-9b-h200")) is None


def test_charts(drawn_profile: Profile) -> None:
    assert set(profile_charts(open_profile("qwen3.5-9b-h200"))) == {"own", "context"}
    charts = profile_charts(drawn_profile)
    assert set(charts) == {"own", "context", "residuals"}
    for chart in charts.values():
        checked(chart)
    points = next(t for t in checked(charts["residuals"])["datasets"].values() if len(t) > 1)
    assert {row["context"] for row in points} == {"no context", "up to 4,096", "up to 32,768"}


def test_the_page_says_how_far_to_trust_it(drawn_profile: Profile) -> None:
    page = render(report_of(drawn_profile))
    assert page == render(report_of(drawn_profile))
    assert HOSTILE[2:] not in page
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    assert "This profile is of a toy" in " ".join(text.split())
    assert "A </script>" in text
    assert "6 draws" in text
    assert "Errors on points that the fit has not seen" in text
    assert not re.search(r'(src|href)="https?:', page)
    lossy = open_profile("qwen3.5-9b-h200:kv_budget=2048")
    assert "kv_budget=2048: KV keeps 2,048 tokens a layer" in render(report_of(lossy))


@pytest.mark.parametrize("ending", [".html", ".svg", ".png"])
def test_files(ending: str, tmp_path: Path, drawn_profile: Profile) -> None:
    path = tmp_path / f"p{ending}"
    write_to(report_of(drawn_profile), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_size > 10_000


def test_other_endings_are_refused(tmp_path: Path, drawn_profile: Profile) -> None:
    with pytest.raises(UsageError, match=re.escape("ends in .html, .png, .svg, .pdf, found")):
        write_to(report_of(drawn_profile), tmp_path / "p.jpg")
    assert not list(tmp_path.iterdir())


def test_it_draws_in_a_browser(drawn_profile: Profile, tmp_path: Path) -> None:
    seen = look_at(render(report_of(drawn_profile)), tmp_path)
    assert_sound(seen, 3)


def test_a_landmark_of_a_straight_line() -> None:
    # 5 ms and 10 us a token, to 1,000: cheapest at 15 us, where the floor pays for 333.
    profile = open_profile("qwen3.5-9b-h200")
    table = replace(profile.prefill.F, n=(1, 1000), us=(5000.0, 15_000.0))
    landmarks = Landmarks.of(replace(profile, prefill=replace(profile.prefill, F=table)))
    assert math.isclose(landmarks.token_seconds, 15e-6)
    assert math.isclose(landmarks.knee_tokens, 5000 / 15)
