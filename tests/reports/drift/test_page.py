"""The page of a drift study, as it stands and in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from reports.charts.lint import checked
from reports.drift.charts import drift_charts
from reports.drift.findings import Finding, find
from reports.drift.page import GROUPS, render_page
from reports.drift.sentences import answers
from reports.drift.study import CLAIRVOYANT, DriftStudy, run
from reports.settings import read_settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
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

# A page around the page, which looks inside at the width of a phone.
PROBE = """<!doctype html><body><iframe src="page.html" style="width:420px;height:900px"></iframe>
<pre id="seen"></pre><script>
const look = () => {
  const page = document.querySelector("iframe").contentDocument;
  const charts = [...page.querySelectorAll(".chart")];
  if (!charts.length || !charts.every((c) => c.dataset.drawn)) { setTimeout(look, 100); return; }
  document.getElementById("seen").textContent = JSON.stringify({
    drawn: charts.map((c) => c.dataset.drawn),
    marks: charts.map((c) => c.querySelectorAll(".role-mark path").length),
    scroll: page.documentElement.scrollWidth, width: page.documentElement.clientWidth });
};
setTimeout(look, 200);
</script></body>"""

Found = tuple[DriftStudy, dict[str, Finding]]


@pytest.fixture(scope="module")
def found() -> Found:
    study = run(read_settings(None, [(key, value, "a test") for key, value in SETTINGS.items()]))
    names = (CLAIRVOYANT, *study.placers, *study.paced.values())
    return study, {name: find(study, name) for name in names}


@pytest.fixture(scope="module")
def page(found: Found) -> str:
    return render_page(*found, answers(*found))


def test_every_chart_has_a_place_and_a_sentence(found: Found, page: str) -> None:
    charts = drift_charts(*found)
    assert list(charts) == [name for names in GROUPS.values() for name in names]
    for chart in charts.values():
        assert max(len(table) for table in checked(chart)["datasets"].values()) <= 2_000
    assert page.count("<figcaption>") == page.count('"description":') == len(charts)


def test_the_page_is_closed_to_the_world_and_answers_in_sentences(found: Found, page: str) -> None:
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)
    for told in answers(*found):
        assert told in unescape(page)


def test_it_draws_in_a_browser(page: str, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium on the PATH")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "probe.html").write_text(PROBE, encoding="utf-8")
    run = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--allow-file-access-from-files",  # lets the probe look into its frame
            "--disable-web-security",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1280,1000",
            "--virtual-time-budget=20000",
            "--enable-logging=stderr",
            "--dump-dom",
            (tmp_path / "probe.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    match = re.search(r'<pre id="seen">(.+?)</pre>', run.stdout)
    assert match, run.stderr[-2000:]
    seen = json.loads(unescape(match.group(1)))
    assert seen["drawn"] == ["yes"] * 8
    assert min(seen["marks"]) >= 2
    assert seen["scroll"] <= seen["width"]
    assert [line for line in run.stderr.splitlines() if ":CONSOLE" in line] == []
