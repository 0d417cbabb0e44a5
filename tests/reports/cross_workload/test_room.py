from __future__ import annotations

import polars as pl
import pytest

from reports.cross_workload.overview import taken
from reports.results.comparison import compare
from tests.reports.cross_workload.workloads import several, with_foresight

RATES = {"a": (0.2, 0.3, 0.6), "b": (0.1, 0.5, 0.3)}


def test_the_share_of_the_room_by_hand() -> None:
    """The best that looks ahead saves 70 % on a, the baseline under lru 20 %: 30 % is a fifth."""
    cells, manifest = several(RATES)
    shares = taken(compare(with_foresight(cells, 0.1), manifest))
    by_place = {(t.world, t.capacity, t.policy): t for t in shares}
    assert len(shares) == 2 * 2 * 2
    one = by_place["a", "2 GiB", "branch · lru"]
    assert (one.baseline, one.foresight) == ("last · lru", "sqrt · clairvoyant")
    assert one.room.value == pytest.approx(0.5)
    assert one.share is not None
    assert one.share.value == pytest.approx(0.2)
    assert one.share.method == "replications"
    assert one.share.low is not None
    assert one.share.high is not None
    assert one.share.low < 0.2 < one.share.high
    other = by_place["b", "8 GiB", "sqrt · lru"].share
    assert other is not None
    assert other.value == pytest.approx(0.4)


def test_where_foresight_saves_no_more_there_is_no_room() -> None:
    cells, manifest = several({"a": (0.6, 0.3, 0.6)})
    same = cells.with_columns(pl.lit("clairvoyant").alias("eviction"))
    shares = taken(compare(pl.concat([cells, same]), manifest))
    assert {t.share for t in shares} == {None}


def test_of_one_replay_the_blocks_of_time_tell_the_interval() -> None:
    cells, manifest = several({"a": (0.2, 0.3, 0.6)})
    replay = cells.filter(pl.col("replication") == 0)
    saved = pl.col("block_saved_tokens").list.eval(pl.element() // 2)
    ahead = replay.with_columns(pl.lit("clairvoyant").alias("eviction"))
    behind = replay.with_columns(saved.alias("block_saved_tokens"), pl.col("token_hit_rate") * 0.5)
    manifest["trace"] |= {"deterministic": True}
    shares = taken(compare(pl.concat([behind, ahead]), manifest))
    assert {t.share.method for t in shares if t.share} == {"blocks"}


def test_without_foresight_there_is_nothing_to_tell() -> None:
    assert taken(compare(*several(RATES))) == []
