from __future__ import annotations

import polars as pl
import pytest

from reports.results.comparison import compare
from tests.reports.pages.rendering import caveats_of
from tests.reports.sample_study import GIB, PLACERS, sample


def test_the_correction_and_its_number_are_told() -> None:
    cells, manifest = sample(["last", "branch"], [4 * GIB, 8 * GIB], baseline="last")
    box = caveats_of(compare(cells, manifest), manifest)
    assert any("Holm's correction for all 4 comparisons" in text for text in box)
    alone = caveats_of(compare(*sample(["last"], [8 * GIB])), manifest)
    assert not any("Holm" in text for text in alone)


def test_a_warm_up_that_was_found_is_told_by_workload() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    manifest |= {"warmup_share": 0.5, "warmup_auto": {"a.jsonl": 0.089, "chats": 0.5}}
    box = caveats_of(compare(cells, manifest), manifest)
    first, second = [text for text in box if text.startswith("Warm-up")]
    assert "by MSER-5: the first 8.9 % of a.jsonl and 50 % of chats" in first
    assert second.startswith("Warm-up: half of chats was cut")
    (stated,) = [t for t in caveats_of([], {"warmup_share": 0.1}) if t.startswith("Warm-up")]
    assert stated == "Warm-up: the first 10 % of the requests are served but not counted."


def test_what_a_trace_tells_is_told_of_each_workload() -> None:
    cells, manifest = sample(["last", "branch"], [8 * GIB])
    both = pl.concat([cells.with_columns(pl.lit(name).alias("workload")) for name in "ab"])
    traces = {"a": {"granularity": 512, "notes": []}, "b": {"granularity": 1, "notes": ["drawn."]}}
    box = caveats_of(compare(both, manifest), manifest | {"workloads": traces})
    assert any(text.startswith("a tells overlaps to whole blocks of 512 tokens") for text in box)
    assert "b: drawn." in box
    assert not any("The trace tells" in text for text in box)


BUDGETS = ["random:budget=4", "optimal:budget=4", "adaptive"]


def budget_caveats(manifest_more: dict[str, object] | None = None) -> tuple[list[str], list[str]]:
    """Return the caveats on budgets and on `random` of a study of three placers."""
    cells, manifest = sample(BUDGETS, [8 * GIB], baseline="adaptive")
    box = caveats_of(compare(cells, manifest), manifest | (manifest_more or {}))
    budgets = [text for text in box if text.startswith("A budget bounds")]
    return budgets, [text for text in box if text.startswith("random:budget=4 beats")]


def test_what_a_budget_does_not_bound_is_told_unless_it_is_capped() -> None:
    (told,), _ = budget_caveats()
    assert "random:budget=4 1.40, optimal:budget=4 1.40. Compare at equal realised states" in told
    capped = {"study": {"cache": {"states_per_prefix": "path:4"}}}
    assert budget_caveats(capped)[0] == []
    assert budget_caveats({"study": {"grid": {"cache.kind": ["tree"]}}})[0] == []


def test_where_random_wins_with_no_more_states_the_page_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PLACERS, "optimal:budget=4", 0.3)
    _, (told,) = budget_caveats()
    assert "beats optimal:budget=4 by 1" in told
    assert "with 1.40 new states a request, not 1.40. It draws anew" in told
    assert "adaptive" not in told.partition(". It draws")[0]
    monkeypatch.setitem(PLACERS, "optimal:budget=4", 0.7)
    assert budget_caveats()[1] == []
