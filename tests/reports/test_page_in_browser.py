"""The page in a real browser, headless and without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from typing import Any

import pytest

from reports.page import render_page
from tests.reports.sample_study import GIB, sample

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "</script><img src=x onerror=alert(1)>"

# A page around the page: it looks inside, presses a key and a heading, and writes what it saw.
PROBE = """<!doctype html><body><iframe src="page.html" style="width:420px;height:900px"></iframe>
<pre id="seen"></pre><script>
const charts = (page) => [...page.querySelectorAll(".chart")];
const settled = (page) => charts(page).length && charts(page).every((c) => c.dataset.drawn);
const look = () => {
  const page = document.querySelector("iframe").contentDocument;
  if (!settled(page)) { setTimeout(look, 100); return; }
  const lit = () => [...new Set([...page.querySelectorAll(".chart .mark-line path")]
    .map((path) => path.getAttribute("opacity")).filter((opacity) => opacity !== null))];
  const first = () => page.querySelector("tbody tr").children[2].dataset.key;
  const seen = { drawn: charts(page).map((c) => c.dataset.drawn), before: lit(), rows: [first()],
    marks: charts(page).map((c) => c.querySelectorAll("svg path").length),
    scroll: page.documentElement.scrollWidth, width: page.documentElement.clientWidth };
  page.querySelector(".key").click();
  const heading = page.querySelectorAll("thead button")[2];
  heading.click(); seen.rows.push(first()); heading.click(); seen.rows.push(first());
  setTimeout(() => {
    seen.after = lit();
    document.getElementById("seen").textContent = JSON.stringify(seen);
  }, 500);
};
setTimeout(look, 200);
</script></body>"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no chromium on the PATH")
    return found


@pytest.fixture(scope="module")
def seen(browser: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Return what the probe saw, and the console."""
    folder = tmp_path_factory.mktemp("page")
    cells, manifest = sample(["last", "branch", "block:size=1024", HOSTILE], [2 * GIB, 8 * GIB])
    page = render_page(cells, manifest)
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "probe.html").write_text(PROBE, encoding="utf-8")
    run = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--allow-file-access-from-files",  # lets the probe look into its frame
            "--disable-web-security",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1280,1000",
            "--virtual-time-budget=20000",
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


def test_every_chart_draws(seen: tuple[dict[str, Any], str]) -> None:
    assert seen[0]["drawn"] == ["yes"] * 8
    assert min(seen[0]["marks"]) > 2


def test_the_console_is_silent(seen: tuple[dict[str, Any], str]) -> None:
    assert [line for line in seen[1].splitlines() if ":CONSOLE" in line] == []


def test_a_phone_does_not_scroll_sideways(seen: tuple[dict[str, Any], str]) -> None:
    assert seen[0]["scroll"] <= seen[0]["width"]


def test_a_key_lights_up_one_policy(seen: tuple[dict[str, Any], str]) -> None:
    assert seen[0]["before"] == ["1"]
    assert sorted(seen[0]["after"]) == ["0.12", "1"]


def test_a_heading_sorts_the_table_both_ways(seen: tuple[dict[str, Any], str]) -> None:
    least, most = (float(key) for key in seen[0]["rows"][1:])
    assert least < most
