"""A page in a real browser, headless and without a network: what tests of all pages share."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
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
    "--window-size=1400,1000",
    "--virtual-time-budget=20000",
    "--enable-logging=stderr",
    "--dump-dom",
)

# A page around the pages: it waits for the charts, looks at them, and acts as a reader would.
PROBE = """<!doctype html><body>
FRAMES
<pre id="seen"></pre><script>
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const named = (element) => element.textContent.trim() || element.getAttribute("aria-label")
  || element.labels?.length;
const acts = [ACTIONS];
const look = async (frame, act) => {
  const all = () => [...frame.contentDocument.querySelectorAll(".chart")];
  const still = frame.sandbox.length > 0;
  const drawn = () => all().length && all().every((chart) => chart.dataset.drawn);
  while (!(still ? frame.contentDocument.querySelector("footer") : drawn())) { await wait(100); }
  const page = frame.contentDocument, charts = all();
  const width = page.documentElement.clientWidth;
  const seen = {
    drawn: charts.map((chart) => chart.dataset.drawn),
    marks: charts.map((chart) => chart.querySelectorAll(".role-mark path, .role-mark line").length),
    labels: charts.map((chart) => chart.getAttribute("aria-label") ?? ""),
    width, scroll: page.documentElement.scrollWidth,
    wide: Math.max(...[...page.querySelectorAll(".chart svg")]
      .map((svg) => svg.getBoundingClientRect().right)),
    nameless: [...page.querySelectorAll("button, input, select, summary, a")]
      .filter((element) => !named(element)).map((element) => element.outerHTML),
    images: page.querySelectorAll("img").length,
    ink: frame.contentWindow.getComputedStyle(page.body).color,
    paper: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  };
  return Object.assign(seen, await act(page, frame.contentWindow));
};
const lookAtAll = async () => {
  const seen = [];
  for (const [number, frame] of [...document.querySelectorAll("iframe")].entries()) {
    seen.push(await look(frame, acts[number]));
  }
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
lookAtAll().catch((error) => { console.error(error.stack); });
</script></body>"""
FRAME = (
    '<iframe src="{number}.html" {sandbox} '
    'style="width:{width}px;height:900px;color-scheme:{scheme}">'
)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page and what is done with it.

    Parameters
    ----------
    page
        HTML.
    actions
        JavaScript that acts on `page` (the document) and `view` (its window), may `await wait(ms)`
        and returns an object of further values.
    width
        Of the frame, in CSS pixels.
    dark
        Whether the reader prefers dark pages.
    scripting
        Whether the page may run JavaScript.
    """

    page: str
    actions: str = ""
    width: int = 420
    dark: bool = False
    scripting: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What the probe saw, and the lines of the console."""

    values: dict[str, Any]
    console: list[str]

    def __getitem__(self, name: str) -> Any:
        """Return one of the values."""
        return self.values[name]


def look_at(
    page: str, folder: Path, *, actions: str = "", width: int = 420, dark: bool = False
) -> Seen:
    """Return what a browser makes of one page, as `Visit` has it."""
    (seen,) = look_at_all([Visit(page, actions, width, dark)], folder)
    return seen


def look_at_all(visits: Sequence[Visit], folder: Path) -> list[Seen]:
    """Return what one browser makes of each page in a frame; skip the test where there is none.

    Parameters
    ----------
    visits
        One after another; all of them share the lines of the console.
    folder
        Where it may write.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium on the PATH")
    frames = []
    for number, visit in enumerate(visits):
        (folder / f"{number}.html").write_text(visit.page, encoding="utf-8")
        scheme = "dark" if visit.dark else "light"
        sandbox = "" if visit.scripting else 'sandbox="allow-same-origin"'
        frame = FRAME.format(number=number, width=visit.width, scheme=scheme, sandbox=sandbox)
        frames.append(frame + "</iframe>")
    acts = ", ".join(f"async (page, view) => {{ {visit.actions} }}" for visit in visits)
    probe = PROBE.replace("FRAMES", "".join(frames)).replace("ACTIONS", acts)
    (folder / "probe.html").write_text(probe, encoding="utf-8")
    run = subprocess.run(
        [
            browser,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            (folder / "probe.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    match = re.search(r'<pre id="seen">(.+?)</pre>', run.stdout, flags=re.DOTALL)
    assert match, run.stderr[-2000:]
    console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    return [Seen(values, console) for values in json.loads(unescape(match.group(1)))]


def assert_sound(seen: Seen, charts: int) -> None:
    """Assert what holds of every page: all is drawn and told, fits, has names; a silent console."""
    assert seen.console == []
    assert seen["drawn"] == ["yes"] * charts
    assert min(seen["marks"]) >= 1
    assert all(seen["labels"])
    assert seen["nameless"] == []
    assert seen["scroll"] <= seen["width"]
    assert seen["wide"] <= seen["width"]
