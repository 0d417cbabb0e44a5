from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import polars as pl
import pytest

from reports.pages.study.answer import answer
from reports.pages.study.table import cells_table
from reports.report import Code, coded, plain
from reports.report.html import content_security_policy, data_block, typeset
from reports.results.comparison import compare
from reports.results.points import Point
from tests.reports.pages.rendering import render_study
from tests.reports.sample_study import GIB, sample, with_failures

HOSTILE = "</script><img src=x onerror=alert(1)>{{ 7 * 7 }}\u2028'\""


def markup_of(page: str) -> str:
    """Return the page without its scripts and styles."""
    return re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)


def text_of(page: str) -> str:
    """Return the visible text of the page on one line."""
    body = re.sub(r"<script .*?</script>", "", markup_of(page), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body)).split())


def answer_of(page: str) -> str:
    match = re.search(r'<p class="answer">.*?</p>', page, flags=re.DOTALL)
    assert match
    return text_of(match.group())


@pytest.fixture(scope="module")
def page() -> str:
    return render_study(*sample())


def test_the_page_is_small_deterministic_and_needs_no_network(page: str) -> None:
    assert page == render_study(*sample())
    assert len(page.encode()) < 2_000_000
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert "@import" not in page
    assert not re.search(r"url\(\s*[\"']?http", page)


def test_the_policy_names_each_script_and_style_by_its_hash(page: str) -> None:
    match = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert match
    policy = unescape(match.group(1))
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    assert (len(scripts), len(style)) == (2, 1)
    assert policy == content_security_policy(scripts, style[0])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<[^>]+\s(style|on\w+)=", re.sub(r"<script.*", "", page, flags=re.DOTALL))


def test_the_answer_says_how_much_of_what_and_how_sure(page: str) -> None:
    cells, _ = sample()
    own = cells.filter((pl.col("placer") == "branch") & (pl.col("capacity_bytes") == 4 * GIB))
    saved, prompts = own["saved_tokens"].sum(), own["prompt_tokens"].sum()
    assert re.fullmatch(
        rf"At 4 GiB, branch saves {100 * saved / prompts:.1f} % of prompt tokens "
        rf"\({saved:,} of {prompts:,}\), \d+\.\d points \[\d+\.\d, \d+\.\d\] more than "
        r"block:size=1024; its mean TTFT is [\d.]+ ms \[[\d.]+ ms, [\d.]+ ms\] lower\.",
        answer_of(page),
    )


def test_what_is_equal_is_called_the_same() -> None:
    cells, manifest = sample(["last"], [8 * GIB], baseline="last")
    twin = cells.with_columns(pl.lit("branch").alias("placer"))
    sentence = answer_of(render_study(pl.concat([cells, twin]), manifest | {"baseline": "branch"}))
    assert "the same as branch; their mean TTFT is the same" in sentence


def test_a_tie_is_called_a_tie() -> None:
    cells, manifest = sample(["none", "last", "branch"], baseline="last")
    wide = {"study": {"study": {"margin_points": 100.0, "margin_times": 0.99}}}
    sentence = answer_of(render_study(cells, manifest | wide))
    assert "tied with last within 100 points (" in sentence
    assert sentence.endswith(" lower, tied within 99 %.")


def test_what_many_comparisons_bring_by_chance_is_not_claimed() -> None:
    cells, manifest = sample(["none", "last", "branch"], baseline="last")
    (world,) = compare(cells, manifest)
    unsure = replace(world, comparisons=1648, points=dict(map(_doubted, world.points.items())))
    sentence, like = answer(unsure)
    text = plain(sentence)
    assert "more than last, which may be chance among 1,648 comparisons" in text
    assert text.endswith(" lower, which may be chance too.")
    assert like == ("Unsure, as the difference may be chance among 1,648 comparisons: last.",)


def _doubted(item: tuple[tuple[str, str], Point]) -> tuple[tuple[str, str], Point]:
    """Return a point whose differences are not significant after Holm's correction."""
    key, point = item
    rate, ttft = point.token_hit_rate_difference, point.ttft_difference
    return key, replace(
        point,
        token_hit_rate_difference=rate and replace(rate, p_holm=0.4),
        ttft_difference=ttft and replace(ttft, p_holm=0.4),
    )


def test_the_same_result_is_told_once() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB], baseline="last")
    twin = cells.filter(pl.col("placer") == "branch").with_columns(placer=pl.lit("optimal"))
    page = text_of(render_study(pl.concat([cells, twin]), manifest))
    assert "With the same result: optimal." in page
    assert "alike" not in page  # it has a key of its own
    many = [f"block:size={size}" for size in range(80, 110)]
    page = render_study(*sample(many, [8 * GIB], replications=1, baseline="block:size=80"))
    assert re.search(r'<small title="(block:size=\d+(, )?){6}">and 6 alike</small>', page)


def test_the_time_that_can_be_shown_begins_with_a_warm_up_that_was_cut() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    later = cells.with_columns(pl.col("block_arrival_seconds").list.eval(pl.element() + 300))
    warmed = render_study(later, manifest)
    assert '<input type="range" min="0" max="63.3333"' in warmed
    assert "Grey: the warm-up, served but not counted." in warmed
    plain = render_study(later, manifest | {"warmup_share": 0})
    assert '<input type="range" min="5" max="63.3333"' in plain
    assert "Grey: the warm-up" not in plain


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("-6.5 points (-7.6 to -5.4), +3%", "~6.5 points (~7.6 to ~5.4), +3 %"),
        ("20 us; a busy us; x 1.27", "20 µs; a busy us; * 1.27"),
        ("P90 <= 200 ms, rate >= 4 %", "P90 ≤ 200 ms, rate ≥ 4 %"),
        ("token_hit_rate<-1, qwen3.5-9b-h200, a-1, b:size=-1", None),
    ],
)
def test_figures_are_written_as_on_paper_and_names_are_left(
    plain: str, written: str | None
) -> None:
    signs = {"\N{MINUS SIGN}": "~", "\N{MULTIPLICATION SIGN}": "*", "\N{NO-BREAK SPACE}": " "}
    assert typeset(plain).translate(str.maketrans(signs)) == (written or plain)


def test_short_times_are_written_so_in_every_cell() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    page = render_study(cells.with_columns(pl.col("ttft_p99_seconds") * 0 + 219e-6), manifest)
    assert "219 µs" in text_of(page)
    assert "219 us" not in text_of(page)


def test_a_baseline_that_wins_is_compared_with_the_next() -> None:
    sentence = answer_of(render_study(*sample(["last", "branch"], [8 * GIB], baseline="branch")))
    assert re.search(r"; it is the baseline, [\d.]+ points \[[\d., ]+\] more than last", sentence)


def test_the_rest_of_the_page_is_there(page: str) -> None:
    text = text_of(page)
    for heading in ("Savings and latency", "Read with care", "All cells", "Run it again"):
        assert heading in text
    assert "milepost sweep studies/demo.toml --out results/demo" in text
    assert markup_of(page).count("<tr>") == 1 + 9 * 5
    assert page.count('class="chart"') == 16


def test_the_care_box_follows_from_the_facts() -> None:
    cells, manifest = sample(["last", "dense"], [8 * GIB], replications=1)
    cells = cells.with_columns(
        pl.lit(12).alias("extrapolated_requests"), pl.lit(3).alias("requests_rejected")
    )
    manifest["trace"] |= {"notes": ["4 bad lines were skipped"], "deterministic": True}
    text = text_of(render_study(cells, manifest | {"warmup_share": 0}))
    for fact in (
        "the blocks of time of one replay",
        "No warm-up was cut",
        "6 rejected and 0 unfinished requests",
        "whole blocks of 16 tokens",
        "4 bad lines were skipped.",
        "24 of 12,800 request times are extrapolated",
        "composed from timings of single operators",
        "dense holds a state at every position for free: an upper bound only.",
        "Decode is not simulated",
    ):
        assert fact in text


def test_hostile_names_are_shown_as_text() -> None:
    cells, manifest = sample(["last", HOSTILE, "x" * 500], [None], replications=1)
    page = render_study(
        cells.with_columns(pl.lit(HOSTILE).alias("workload")),
        manifest | {"title": HOSTILE, "command": HOSTILE, "trace": {"notes": [HOSTILE]}},
    )
    assert "<img" not in markup_of(page)
    assert page.count("</script>") == 3
    assert "{{ 7 * 7 }}" in text_of(page)


def test_of_more_rows_than_fit_those_at_the_focus_stay() -> None:
    (world,) = compare(*sample(["last", "branch"], [GIB, 2 * GIB, 4 * GIB], replications=1))
    assert world.focus == "2 GiB"
    table = cells_table(world, "world-1", 4)
    shown = [tuple(each.text for each in row[:2]) for row in table.rows[: table.most]]
    more = len(table.rows) - table.most
    assert shown == [("last", "1 GiB"), ("last", "2 GiB"), ("last", "4 GiB"), ("branch", "2 GiB")]
    assert more == 2


def test_backticks_make_code_of_what_stays_text() -> None:
    assert coded("`milepost run` of `<img>` & `") == (
        "",
        Code("milepost run"),
        " of ",
        Code("<img>"),
        " & `",
    )


def test_data_cannot_leave_its_element() -> None:
    block = data_block({"name": HOSTILE, "other": "<!-- & -->"})
    assert not set(block) & set("<>&\u2028")
    assert json.loads(block)["name"] == HOSTILE
    with pytest.raises(ValueError, match="JSON"):
        data_block(float("nan"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"placers": ["branch"], "capacities": [8 * GIB], "replications": 1}, "At 8 GiB, branch"),
        ({"placers": ["branch", "last"], "capacities": [None]}, "At unbounded capacity, branch"),
        ({"requests": 0}, "No answer: no request was counted"),
        ({"placers": ["none"], "requests": 1}, "none saves 0.0 % of prompt tokens"),
    ],
    ids=["one cell", "unbounded only", "no requests", "one request, nothing saved"],
)
def test_small_studies_have_pages(arguments: dict[str, Any], expected: str) -> None:
    assert expected in answer_of(render_study(*sample(**arguments)))


def test_failed_cells_are_counted_and_all_failed_is_said() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB, None])
    manifest["failed"] = [{"cell": "a", "error": "MemoryError: too big"}]
    some = render_study(with_failures(cells, pl.col("placer") == "last", "boom"), manifest)
    assert "6 of 12 cells failed" in text_of(some)
    assert "MemoryError: too big" in text_of(some)
    assert "the baseline has no result" in answer_of(
        render_study(
            with_failures(cells, pl.col("placer") == "last", "boom"),
            manifest | {"baseline": "last"},
        )
    )
    every = render_study(with_failures(cells, pl.lit(value=True), "boom"), manifest)
    assert answer_of(every) == "No answer: every cell failed."


def test_a_study_without_cells_says_so() -> None:
    cells, manifest = sample(["last"])
    assert "the study has no cells" in answer_of(render_study(cells.clear(), manifest))
