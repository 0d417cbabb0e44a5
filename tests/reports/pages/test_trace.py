"""Tests of the report of `milepost trace inspect`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from reports.charts.lint import checked
from reports.pages.trace import trace_report
from reports.pages.trace.captions import PANELS, tokens
from reports.report.html import render
from reports.trace.charts import trace_charts
from simulator.trace.trace import Trace
from tests.reports.browser import assert_sound, look_at
from workloads.inspection import Inspection, inspect
from workloads.opening import open_trace
from workloads.synthetic import SyntheticSpec, generate

HOSTILE = "</script><img src=x onerror=alert(1)>"


def page_of(inspection: Inspection) -> str:
    return render(trace_report(inspection, "milepost trace inspect FILE"))


@pytest.fixture(scope="module")
def trace() -> Trace:
    made = generate(SyntheticSpec(seed=1, requests=400))
    return replace(made, name=HOSTILE, labels=tuple(f"{HOSTILE}{label}" for label in made.labels))


@pytest.fixture(scope="module")
def inspection(trace: Trace) -> Inspection:
    return inspect(trace)


@pytest.fixture(scope="module")
def page(inspection: Inspection) -> str:
    return page_of(inspection)


def test_every_chart_has_a_place_and_a_sentence(inspection: Inspection) -> None:
    charts = trace_charts(inspection)
    captions = {name: caption for group in PANELS.values() for name, (_, caption) in group.items()}
    assert charts.keys() == captions.keys()
    for name, chart in charts.items():
        spec = checked(chart)
        assert max(len(table) for table in spec["datasets"].values()) <= 1_000
        assert captions[name](inspection).endswith((".", "start."))


def test_the_page_is_closed_to_the_world_and_the_same_again(
    inspection: Inspection, page: str
) -> None:
    assert page == page_of(inspection)
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)


def test_each_chart_is_labelled_for_those_who_cannot_see_it(page: str) -> None:
    for named in re.findall(r'<figure class="panel" aria-labelledby="([\w-]+)"', page):
        assert page.count(f'id="{named}"') == 1
    assert page.count("<figcaption>") == sum(map(len, PANELS.values()))


@pytest.mark.parametrize(
    "rows",
    [
        [{"input_length": 1, "hash_ids": [0]}],
        [{"timestamp": 7, "input_length": 16, "hash_ids": [0]}] * 2,
        [{"timestamp": at, "input_length": 16, "hash_ids": [at]} for at in range(30)],
        [{"timestamp": at, "input_length": 16, "hash_ids": []} for at in range(3)],
        [{"input_length": 32, "hash_ids": [0, at], "session_id": at % 2} for at in range(5)],
    ],
    ids=["one", "one time", "nothing shared", "no ids", "no times"],
)
def test_the_poorest_traces_have_a_page(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    inspection = inspect(open_trace(path, format="mooncake", block=16))
    page = page_of(inspection)
    assert page.count('class="chart"') == len(trace_charts(inspection))
    json.dumps(inspection.as_json(), allow_nan=False)


def test_arrivals_as_regular_as_a_clock_have_a_page(tmp_path: Path) -> None:
    row = {"input_length": 1500, "output_length": 5}
    rows = [
        row | {"timestamp": 1000 * n, "hash_ids": [n % 7, 100 + n % 5, 1000 + n]}
        for n in range(200)
    ]
    path = tmp_path / "regular.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    inspection = inspect(open_trace(path))
    assert "dispersion" not in trace_charts(inspection)
    assert "Variance / mean" not in page_of(inspection)


def test_sentences_tell_the_figures_of_the_trace(shared: Path) -> None:
    inspection = inspect(open_trace(shared / "data/mooncake/conversation_trace.jsonl.gz"))
    page = unescape(page_of(inspection))
    assert "<strong>37.4 % of the prompt tokens</strong> (54,098,293 of 144,793,823)" in page
    assert "there are only 1,180 different times, in ticks of 3.00 s" in page
    assert "12,030 of 12,031 requests begin like an earlier one" in page
    assert "An LRU cache that keeps 15.6 M tokens of KV saves 90 %" in page


def test_tokens_have_three_digits() -> None:
    texts = [tokens(count) for count in (0, 999, 1000, 12_345, 999_960, 2.5e9)]
    assert texts == [
        "0 tokens", "999 tokens", "1 k tokens", "12.3 k tokens", "1 M tokens", "2.5 G tokens",
    ]  # fmt: skip


ACTIONS = """
  const over = ["timeline", "working_set", "rate"];
  const ticks = (name) => [...page.querySelector(`#${name} .role-axis-label`)
    .querySelectorAll("text")].map((label) => label.textContent).sort().join(" ");
  const before = over.map(ticks), other = ticks("lru");
  const [from] = page.querySelectorAll(".range input");
  from.value = 60;
  from.dispatchEvent(new view.Event("input", { bubbles: true }));
  await wait(300);
  return { before, after: over.map(ticks), same: ticks("lru") === other,
    range: page.querySelector(".range output").textContent };
"""


def test_it_draws_in_a_browser_and_shows_a_range_of_time(page: str, tmp_path: Path) -> None:
    seen = look_at(page, tmp_path, actions=ACTIONS)
    assert_sound(seen, sum(map(len, PANELS.values())))
    assert seen["range"].startswith("60") or seen["range"].startswith("59")
    assert all(now != before for now, before in zip(seen["after"], seen["before"], strict=True))
    assert seen["same"]
