"""The pages that compare: workloads together, and two runs, as they stand and in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.page import render_page
from reports.page.across import across_charts, across_section
from reports.results.comparison import compare
from reports.two_runs import compare_folders
from reports.two_runs.page import render_comparison
from reports.two_runs.stored import read_comparison, told, two_runs, write_comparison
from simulator.errors import DataError
from tests.reports.across.workloads import several, with_foresight
from tests.reports.sample_study import GIB, sample
from tests.reports.two_runs.folders import write_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "<img src=x onerror=alert(1)>"

# A page around the pages, which looks inside at the width of a phone.
PROBE = """<!doctype html><body>
<iframe src="study.html" style="width:420px;height:900px"></iframe>
<iframe src="compare.html" style="width:420px;height:900px"></iframe>
<pre id="seen"></pre><script>
const look = () => {
  const pages = [...document.querySelectorAll("iframe")].map((f) => f.contentDocument);
  const charts = pages.map((page) => [...page.querySelectorAll(".chart")]);
  if (!charts.every((c) => c.length && c.every((e) => e.dataset.drawn))) {
    setTimeout(look, 100); return;
  }
  document.getElementById("seen").textContent = JSON.stringify(pages.map((page, n) => ({
    drawn: charts[n].map((c) => c.dataset.drawn),
    marks: charts[n].map((c) => c.querySelectorAll(".role-mark path").length),
    images: page.querySelectorAll("img").length,
    scroll: page.documentElement.scrollWidth, width: page.documentElement.clientWidth })));
};
setTimeout(look, 200);
</script></body>"""


@pytest.fixture(scope="module")
def study_page() -> str:
    rates = {HOSTILE: (0.2, 0.6, 0.4), "b": (0.1, 0.5, 0.3)}
    cells, manifest = several(rates, capacities=[2 * GIB])
    return render_page(with_foresight(cells, 0.1), manifest | {"title": HOSTILE})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two runs of the same 400 requests, the second of which saves more."""
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
def kept(folders: tuple[Path, Path]) -> dict[str, Any]:
    return told(compare_folders(*folders), ["too much"], "milepost compare a b --out DIR")


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


def test_one_workload_has_the_part_only_where_something_looks_ahead() -> None:
    assert across_section(compare(*sample(["last", "branch"]))) is None
    cells, manifest = several({"a": (0.2, 0.6, 0.4)})
    part = across_section(compare(with_foresight(cells, 0.1), manifest))
    assert part is not None
    assert [panel.id for panel in part.panels] == ["across-room"]
    assert part.title == "Against foresight"
    assert [*across_charts(compare(with_foresight(cells, 0.1), manifest))] == ["across-room"]
    assert across_charts(compare(*sample(["last", "branch"]))) == {}


def test_a_comparison_tells_first_what_was_asked_then_what_came_of_it(
    kept: dict[str, Any],
) -> None:
    page = render_comparison(two_runs(kept), kept)
    text = plain(page)
    order = [
        "Against A, B has a higher token hit rate",
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


def test_the_page_is_the_same_from_what_is_kept(kept: dict[str, Any], tmp_path: Path) -> None:
    write_comparison(tmp_path, kept)
    first = (tmp_path / "compare.html").read_bytes(), (tmp_path / "compare.json").read_bytes()
    write_comparison(tmp_path, read_comparison(tmp_path))
    assert ((tmp_path / "compare.html").read_bytes(), (tmp_path / "compare.json").read_bytes()) == (
        first
    )
    found = two_runs(kept)
    assert [each.verdict for each in found.comparisons] == [
        row["verdict"] for row in kept["comparisons"]
    ]


@pytest.mark.parametrize("damage", ["{", "[]", '{"schema_version": 9}', '{"schema_version": 1}'])
def test_what_is_damaged_is_refused(tmp_path: Path, damage: str) -> None:
    (tmp_path / "compare.json").write_text(damage)
    with pytest.raises(DataError):
        read_comparison(tmp_path)


def test_equal_runs_have_no_chart(folders: tuple[Path, Path]) -> None:
    same = told(compare_folders(folders[0], folders[0]), [], "")
    page = plain(render_comparison(two_runs(same), same))
    assert "No figure that both have differs." in page
    assert "Nothing: settings, trace and versions are the same." in page


@pytest.fixture(scope="module")
def seen(
    kept: dict[str, Any], study_page: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[dict[str, Any]], str]:
    """Return what the probe saw of both pages, and the console."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium on the PATH")
    folder = tmp_path_factory.mktemp("pages")
    (folder / "study.html").write_text(study_page, encoding="utf-8")
    page = render_comparison(two_runs(kept), kept)
    (folder / "compare.html").write_text(page, encoding="utf-8")
    (folder / "probe.html").write_text(PROBE, encoding="utf-8")
    run = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--allow-file-access-from-files",  # lets the probe look into its frames
            "--disable-web-security",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1280,1000",
            "--virtual-time-budget=30000",
            "--enable-logging=stderr",
            "--dump-dom",
            (folder / "probe.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    match = re.search(r'<pre id="seen">(.+?)</pre>', run.stdout)
    assert match, run.stderr[-2000:]
    return json.loads(unescape(match.group(1))), run.stderr


def test_every_chart_draws_and_the_console_is_silent(
    seen: tuple[list[dict[str, Any]], str],
) -> None:
    study, comparison = seen[0]
    assert set(study["drawn"]) == {"yes"}
    assert comparison["drawn"] == ["yes", "yes"]
    assert min(study["marks"][:3]) >= 3  # two of ranks, one of the room
    assert min(comparison["marks"]) >= 2
    assert [line for line in seen[1].splitlines() if ":CONSOLE" in line] == []


def test_names_are_text_and_a_phone_does_not_scroll_sideways(
    seen: tuple[list[dict[str, Any]], str],
) -> None:
    for page in seen[0]:
        assert page["images"] == 0
        assert page["scroll"] <= page["width"]
