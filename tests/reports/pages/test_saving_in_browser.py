"""Browser tests of saving charts and tables from a page, and of a page without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.reports.browser import Seen, Visit, assert_sound, look_at, look_at_all
from tests.reports.pages.rendering import render_study
from tests.reports.sample_study import GIB, sample

FORMULA = '=HYPERLINK("http://x","y")'

# The page clicks download links; here a click only records what would have been saved.
ACTIONS = """
  const saved = [];
  const blobs = new Map();
  const made = view.URL.createObjectURL;
  view.Blob = class extends view.Blob {
    constructor(parts, kind) { super(parts, kind); [this.part] = parts; }
  };
  view.URL.createObjectURL = (blob) => {
    const url = made(blob);
    blobs.set(url, blob.part);
    return url;
  };
  view.HTMLAnchorElement.prototype.click = function () {
    saved.push([this.download, blobs.get(this.href)]);
  };
  const all = (selector) => [...page.querySelectorAll(selector)];
  const press = async (label) => {
    all(".saves button").find((each) => each.getAttribute("aria-label") === label).click();
    while (!saved.length) { await wait(100); }
    const [name, part] = saved.pop();
    return { name, part };
  };
  const heading = page.querySelector("#chart-1-pareto-savings-title").textContent;
  const legends = all(".chart .role-legend").length;
  page.querySelector(".key[data-series='last']").click();
  await wait(300);
  const svg = await press(`Save ${heading} as SVG`);
  const text = svg.part;
  const png = await press(`Save ${heading} as PNG`);
  const bytes = [...png.part.slice(0, 24)];
  const csv = await press("Save All cells as CSV");
  const table = csv.part;
  const rows = all("tbody tr").map((row) => row.cells[0].firstChild.textContent);
  page.querySelector("thead button").click();
  const sorted = all("tbody tr").map((row) => row.cells[0].firstChild.textContent);
  page.querySelector(".key[data-series='last']").click();
  await wait(300);
  const put = all("tbody tr").map((row) => row.cells[0].firstChild.textContent);
  const scroll = page.querySelector(".scroll"), cue = page.querySelector(".cue");
  const left = () => page.querySelector("tbody th").getBoundingClientRect().left;
  const first = cue.textContent, before = left();
  scroll.scrollLeft = scroll.scrollWidth;
  scroll.dispatchEvent(new view.Event("scroll"));
  await wait(200);
  return {
    charts: all(".saves button").length, legends, svg: svg.name, text, png: png.name, bytes,
    csv: csv.name, table, rows, sorted, put, cue: [first, cue.textContent],
    stuck: left() - before,
    inside: scroll.scrollWidth > scroll.clientWidth,
  };
"""


@pytest.fixture(scope="module")
def page() -> str:
    return render_study(*sample(["none", "last", "branch", FORMULA], [8 * GIB, 16 * GIB]))


@pytest.fixture(scope="module")
def seen(page: str, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return look_at(page, tmp_path_factory.mktemp("saving"), actions=ACTIONS)


def test_a_saved_chart_stands_alone(seen: Seen) -> None:
    assert_sound(seen, 16)
    assert seen["charts"] == 2 * 16 + 1
    assert re.fullmatch(r"[a-z0-9-]+-chart-1-pareto-savings\.svg", seen["svg"])
    text = seen["text"]
    assert text.startswith("<svg")
    assert "Savings for the memory used" in text
    assert "role-legend" in text
    assert seen["legends"] == 0  # the page has keys instead
    assert 'fill="#ffffff"' in text or 'fill="white"' in text
    assert 'opacity="0.12"' in text  # as it is lit up


def test_a_saved_image_is_twice_as_fine(seen: Seen) -> None:
    signature, width = seen["bytes"][:8], int.from_bytes(bytes(seen["bytes"][16:20]), "big")
    assert bytes(signature) == b"\x89PNG\r\n\x1a\n"
    assert seen["png"].endswith("-chart-1-pareto-savings.png")
    assert width >= 1280


def test_a_saved_table_has_every_cell_and_no_formula(seen: Seen) -> None:
    import csv

    text = seen["table"]
    assert text.startswith("\ufeff")  # spreadsheets take it for UTF-8 then
    head, *rows = csv.reader(text.removeprefix("\ufeff").splitlines())
    assert head[:4] == ["Policy", "Capacity", "Token hit rate", "Token hit rate, note"]
    assert len(set(head)) == len(head)
    assert len(rows) == 8
    assert {len(row) for row in rows} == {len(head)}
    assert {row[0] for row in rows} == {"none", "last", "branch", f"'{FORMULA}"}
    assert all(re.fullmatch(r"\d+\.\d %", row[2]) for row in rows)


def test_rows_that_are_chosen_come_first_and_go_back(seen: Seen) -> None:
    assert seen["rows"][:2] == ["last", "last"]
    assert sorted(seen["rows"]) == sorted(seen["put"])
    assert seen["sorted"][:2] == ["last", "last"]
    assert seen["put"] == sorted(seen["put"], key=str.casefold) != seen["sorted"]


def test_a_wide_table_says_so_and_keeps_its_names_in_sight(seen: Seen) -> None:
    assert seen["inside"]
    assert re.fullmatch(r"\d+ more columns to the right: scroll the table", seen["cue"][0])
    assert seen["cue"][1] == "the last columns"
    assert abs(seen["stuck"]) < 1


def test_without_javascript_there_are_tables_and_a_sentence(page: str, tmp_path: Path) -> None:
    actions = """
      const shown = (selector) => [...page.querySelectorAll(selector)]
        .filter((each) => each.getBoundingClientRect().height > 0).length;
      return { notice: shown(".notice"), text: page.querySelector(".notice")?.textContent,
        rows: shown("tbody tr"), panels: shown(".panel"), keys: shown(".key"),
        heads: [...page.querySelectorAll("h2")]
          .filter((each) => each.getBoundingClientRect().height > 0)
          .map((each) => each.textContent) };
    """
    (still,) = look_at_all([Visit(page, actions, scripting=False)], tmp_path)
    assert still["notice"] == 1
    assert still["text"].startswith("JavaScript is off: this page shows its answer and its tables.")
    assert (still["rows"], still["panels"], still["keys"]) == (8, 0, 0)
    assert still["heads"] == ["All cells", "Read with care", "Run it again"]
    assert still["scroll"] <= still["width"]
    (running,) = look_at_all([Visit(page, actions)], tmp_path)
    assert (running["notice"], running["panels"]) == (0, 16)
