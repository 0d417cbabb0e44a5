from __future__ import annotations

import polars as pl

from reports.results.comparison import compare
from tests.reports.pages.rendering import caveats_of
from tests.reports.sample_study import GIB, sample


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
