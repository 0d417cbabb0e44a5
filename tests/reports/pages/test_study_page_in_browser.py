"""Browser tests of the interactions on the page of a study."""

from __future__ import annotations

import pytest

from tests.reports.browser import Seen, assert_sound, look_at
from tests.reports.pages.rendering import render_study
from tests.reports.sample_study import GIB, sample

HOSTILE = "</script><img src=x onerror=alert(1)>"
CHARTS = 16
ROWS = 4 * 16
ACTIONS = """
  const all = (selector) => [...page.querySelectorAll(selector)];
  const one = (selector) => page.querySelector(selector);
  const chart = (name) => one(`#chart-1-${name}`);
  const status = () => one("#status").textContent;
  const light = () => ({
    opacity: [...new Set(all(".chart .mark-line path").map((path) => path.getAttribute("opacity"))
      .filter((opacity) => opacity !== null))].sort(),
    pressed: all('.key[aria-pressed="true"]').map((key) => key.dataset.series),
    rows: all("tbody tr.lit th").map((name) => name.firstChild.textContent),
    followed: all("[data-follows]").map((name) => name.textContent),
    status: status(),
  });
  const escape = async () => {
    page.dispatchEvent(new view.KeyboardEvent("keydown", { key: "Escape" }));
    await wait(300);
  };
  const key = (name) => all(".key").find((each) => each.dataset.series === name);
  const click = async (element) => {
    element.dispatchEvent(new view.MouseEvent("click", { bubbles: true }));
    await wait(300);
    return light();
  };
  const ticks = () => ["rate-over-time", "losses-over-time", "occupancy", "occupancy-baseline"]
    .map((name) => [...chart(name).querySelector(".role-axis-label").querySelectorAll("text")]
      .map((label) => label.textContent).sort().join(" "));

  const before = light();
  const byKey = await click(key("last")); // from the keys
  const again = await click(key("last"));
  const mark = [...chart("losses").querySelectorAll(".mark-rect path")].at(-1);
  const byMark = await click(mark);
  await escape();
  const cleared = light();
  const row = all("tbody th").find((name) => name.textContent.startsWith("branch"));
  const byRow = await click(row);
  await escape();

  const [from, to] = all(".range input");
  const whole = ticks();
  from.value = 30;
  from.dispatchEvent(new view.Event("input", { bubbles: true }));
  from.dispatchEvent(new view.Event("change", { bubbles: true }));
  await wait(300);
  const slid = { ticks: ticks(), range: one(".range output").textContent, status: status() };
  await escape();
  const unslid = ticks();
  const plot = chart("occupancy").querySelector(".role-frame").getBoundingClientRect();
  const pointer = (type, x) => chart("occupancy").dispatchEvent(new view.PointerEvent(type,
    { clientX: x, clientY: plot.top + 50, button: 0, pointerId: 1, bubbles: true }));
  pointer("pointerdown", plot.left + 100);
  pointer("pointermove", plot.left + 103); // less than a drag, so that no pointer is captured
  pointer("pointerup", plot.left + 200);
  await wait(300);
  const dragged = { ticks: ticks(), range: one(".range output").textContent, status: status() };

  const rows = () => all("tbody tr").filter((each) => !each.hidden).length;
  const filter = one(".filter select");
  const atFocus = rows();
  filter.value = "";
  filter.dispatchEvent(new view.Event("change", { bubbles: true }));
  const unfiltered = { rows: rows(), status: status() };
  const heading = all("thead button")[2];
  const first = () => Number(one("tbody tr").cells[2].dataset.key);
  heading.click();
  const least = first();
  heading.click();
  const order = [least, first()];
  return { before, byKey, again, byMark, cleared, byRow, whole, slid, unslid, dragged, atFocus,
    unfiltered, order };
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    capacities = [GIB * step for step in range(1, 17)]
    page = render_study(*sample(["last", "branch", "block:size=1024", HOSTILE], capacities))
    return look_at(page, tmp_path_factory.mktemp("page"), actions=ACTIONS)


def test_it_draws_fits_a_phone_and_the_console_is_silent(seen: Seen) -> None:
    assert_sound(seen, CHARTS)


def test_a_key_lights_up_one_policy_everywhere(seen: Seen) -> None:
    assert seen["before"]["opacity"] == ["1"]
    assert seen["before"]["followed"] == ["branch"] * 3
    lit = seen["byKey"]
    assert lit["opacity"] == ["0.12", "1"]
    assert lit["pressed"] == ["last"]
    assert lit["rows"] == ["last"] * 16
    assert lit["followed"] == ["last"] * 3
    assert lit["status"] == "last is lit up in the charts and in 16 rows of the table."
    assert seen["again"]["opacity"] == ["1"]
    assert seen["again"]["pressed"] == seen["again"]["rows"] == []


def test_so_do_a_mark_and_a_row_and_escape_puts_it_out(seen: Seen) -> None:
    assert seen["byMark"]["pressed"] == [HOSTILE]
    assert seen["byMark"]["rows"] == [HOSTILE] * 16
    assert seen["cleared"]["opacity"] == ["1"]
    assert seen["cleared"]["pressed"] == seen["cleared"]["rows"] == []
    assert seen["cleared"]["status"] == "All policies are shown alike."
    assert seen["byRow"]["pressed"] == ["branch"]


def test_a_range_of_time_holds_in_all_charts_over_time(seen: Seen) -> None:
    for name in ("slid", "dragged"):
        ticks = zip(seen[name]["ticks"], seen["whole"], strict=True)
        assert all(now != before for now, before in ticks)
    assert seen["slid"]["range"] == "29.75 to 58.33 min"
    assert seen["slid"]["status"] == "The charts over time show 29.75 to 58.33 min."
    assert seen["unslid"] == seen["whole"]
    assert seen["dragged"]["range"] in seen["dragged"]["status"]


def test_the_table_shows_one_capacity_or_all_and_sorts_both_ways(seen: Seen) -> None:
    assert (seen["atFocus"], seen["unfiltered"]["rows"]) == (4, ROWS)
    assert seen["unfiltered"]["status"] == f"The table shows {ROWS} of {ROWS} rows."
    least, most = seen["order"]
    assert least < most
