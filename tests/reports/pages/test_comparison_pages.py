"""Tests of pages that compare workloads or two runs, as HTML and in a browser."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reports.compare import compare_folders
from reports.compare.stored import read_comparison
from reports.cross_workload import overview_of
from reports.pages.comparison import comparison_report, kept_report
from reports.pages.study.together import together
from reports.report import Report, Section
from reports.report.html import render
from reports.report.store import store
from reports.results.comparison import compare
from reports.results.points import WorldPoints
from simulator.base.errors import DataError
from tests.reports.browser import Seen, Visit, assert_sound, look_at_all
from tests.reports.compare.folders import write_run
from tests.reports.cross_workload.workloads import several, with_foresight
from tests.reports.pages.rendering import render_study
from tests.reports.sample_study import GIB, sample

HOSTILE = "<img src=x onerror=alert(1)>"

# Whether a click on the first workload's legend also selects the policy in the other sections.
ACTIONS = """
  const opacity = () => Object.fromEntries([...page.querySelectorAll(".chart")].map((chart) =>
    [chart.id, [...new Set([...chart.querySelectorAll(".mark-symbol path")]
      .map((mark) => mark.getAttribute("opacity")))].sort().join(" ")]));
  const pressed = () => [...page.querySelectorAll('.key[aria-pressed="true"]')]
    .map((key) => `${key.closest("section").id} ${key.dataset.series}`);
  const before = opacity();
  page.querySelector("#world-1 .key[data-series='branch · lru']").click();
  await wait(500);
  const lit = { opacity: opacity(), pressed: pressed(),
    status: page.querySelector("#status").textContent };
  page.querySelector("#across tbody th").click(); // the first of the ranks: the same policy
  await wait(500);
  return { before, lit, after: { opacity: opacity(), pressed: pressed() } };
"""


@pytest.fixture(scope="module")
def study_page() -> str:
    rates = {HOSTILE: (0.2, 0.6, 0.4), "b": (0.1, 0.5, 0.3)}
    cells, manifest = several(rates, capacities=[2 * GIB])
    return render_study(with_foresight(cells, 0.1), manifest | {"title": HOSTILE})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return folders of two runs of the same 400 requests; the second run saves more."""
    folder = tmp_path_factory.mktemp("runs")
    generator = np.random.default_rng(1)
    prompt = generator.integers(500, 1500, 400)
    saved = (prompt * generator.uniform(0.2, 0.5, 400)).astype(int)
    more = saved + generator.integers(0, 200, 400)
    names = "a", f"b{HOSTILE.replace('/', '')}"
    return (
        write_run(folder / names[0], prompt, saved, (1 - saved / prompt).tolist()),
        write_run(
            folder / names[1],
            prompt,
            more,
            (1 - more / prompt).tolist(),
            scenario={"policy": {"placer": HOSTILE}},
        ),
    )


@pytest.fixture(scope="module")
def report(folders: tuple[Path, Path]) -> Report:
    runs = compare_folders(*folders)
    return comparison_report(runs, ["too much"], "milepost compare a b --out DIR")


def plain(page: str) -> str:
    return unescape(
        re.sub(r"<[^>]*>", "", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))
    )


def test_a_page_of_several_workloads_begins_with_all_of_them(study_page: str) -> None:
    text = plain(study_page)
    assert HOSTILE not in study_page
    assert text.index("All workloads together") < text.index("Savings and latency")
    assert "branch · lru ranks first: mean rank 1.0 [1.0, 1.0] of 3" in text
    assert "Mean rank by token hit rate" in text
    assert "How near to foresight" in text
    assert f"{HOSTILE}, 2 GiB" in text  # a column of the shares of the room


def whole(worlds: list[WorldPoints]) -> Section | None:
    return together(worlds, overview_of(worlds))


def test_one_workload_has_the_part_only_where_something_looks_ahead() -> None:
    assert whole(compare(*sample(["last", "branch"]))) is None
    cells, manifest = several({"a": (0.2, 0.6, 0.4)})
    part = whole(compare(with_foresight(cells, 0.1), manifest))
    assert part is not None
    assert [panel.id for panel in part.panels] == ["across-room"]
    assert part.name == "Against foresight"


def test_of_too_many_shares_those_of_policies_that_are_alike_stay_in_the_table() -> None:
    placers = ["none", *(f"block:size={size}" for size in [*range(70, 98), 100, 1000])]
    rates = [0.1, *[0.3] * 28, 0.4, 0.5]
    cells, manifest = several({"a": rates}, placers, [8 * GIB], spread=0.0)
    cells = cells.with_columns(pl.col("token_hit_rate") + 0.001 * pl.col("replication"))
    worlds = compare(with_foresight(cells, 0.1), manifest)
    part = whole(worlds)
    assert part is not None
    (panel,) = part.panels
    assert panel.caption.endswith("Below zero: worse than the baseline. 27 more are in the table.")
    rows = panel.chart.to_dict()["datasets"].values()
    drawn = {row["series"] for table in rows for row in table if "series" in row}
    assert drawn == {f"block:size={size} · lru" for size in (70, 100, 1000)}


def test_a_comparison_tells_first_what_was_asked_then_what_came_of_it(
    report: Report,
) -> None:
    page = render(report)
    text = plain(page)
    order = [
        "Against A, B has a better token hit rate",
        "What was asked differently",
        "policy.placer",
        "What came of it",
        "Every figure",
        "Tokens that were not saved",
        "Read with care",
        "Run it again",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert "Beyond its limit: too much." in text
    assert HOSTILE not in page
    assert HOSTILE in text


def test_the_page_is_the_same_from_what_is_kept(report: Report, tmp_path: Path) -> None:
    store(report, tmp_path)
    first = (tmp_path / "compare.html").read_bytes(), (tmp_path / "compare.json").read_bytes()
    store(kept_report(tmp_path), tmp_path)
    assert ((tmp_path / "compare.html").read_bytes(), (tmp_path / "compare.json").read_bytes()) == (
        first
    )
    runs, _ = read_comparison(tmp_path)
    assert [each.verdict for each in runs.comparisons] == [
        row["verdict"] for row in report.data["comparisons"]
    ]


@pytest.mark.parametrize("damage", ["{", "[]", '{"schema_version": 9}', '{"schema_version": 1}'])
def test_what_is_damaged_is_refused(tmp_path: Path, damage: str) -> None:
    (tmp_path / "compare.json").write_text(damage)
    with pytest.raises(DataError):
        read_comparison(tmp_path)


def test_equal_runs_have_no_chart(folders: tuple[Path, Path]) -> None:
    same = comparison_report(compare_folders(folders[0], folders[0]), [], "")
    page = plain(render(same))
    assert "No figure that both have differs." in page
    assert "Nothing: settings, trace and versions are the same." in page


@pytest.fixture(scope="module")
def seen(report: Report, study_page: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Return what a browser shows of both pages."""
    comparison = render(report)
    visits = [Visit(study_page, ACTIONS), Visit(comparison, dark=True)]
    return look_at_all(visits, tmp_path_factory.mktemp("pages"))


def test_every_chart_draws_fits_a_phone_and_the_console_is_silent(
    seen: list[Seen], study_page: str
) -> None:
    study, comparison = seen
    assert_sound(study, study_page.count('class="chart"'))
    assert_sound(comparison, 2)
    assert min(comparison["marks"]) >= 2


def test_names_are_text(seen: list[Seen]) -> None:
    assert [page["images"] for page in seen] == [0, 0]


def test_a_key_lights_up_a_policy_in_every_workload_and_in_what_compares_them(
    seen: list[Seen],
) -> None:
    charts = [
        "across-ranks-token-hit-rate",
        "across-ranks-ttft-seconds",
        "across-room",
        "chart-1-pareto-savings",
        "chart-2-pareto-savings",
    ]
    lit = seen[0]["lit"]
    assert [seen[0]["before"][name] for name in charts] == ["1"] * 5
    assert [lit["opacity"][name] for name in charts] == ["0.12 1"] * 5
    names = [f"{section} branch · lru" for section in ("across", "world-1", "world-2")]
    assert lit["pressed"] == names
    assert lit["status"].startswith("branch · lru is lit up in the charts and in ")
    assert seen[0]["after"] == {"opacity": seen[0]["before"], "pressed": []}
