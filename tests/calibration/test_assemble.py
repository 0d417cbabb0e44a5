from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.assemble import assemble
from calibration.journal import MeasurementJournal
from calibration.measured import Measured
from calibration.plan import CUDA_GRID, Item, PlanBlock, blocks_of
from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile

PARTS: dict[str, Any] = {
    "profile_id": "made-up",
    "kind": "measured",
    "source": "a test",
    "licence": "Apache-2.0",
    "created": "2026-11-30",
    "hardware": {"name": "none"},
    "model": {"name": "made-up", "layer_types": {"recurrent": 3, "attention": 1}},
    "state": {"ssm_bytes": 2**20, "conv_bytes": 2**10, "bytes_per_checkpoint": 2**20 + 2**10},
    "kv": {"bytes_per_token": 1024},
}
BLOCKS = blocks_of(CUDA_GRID, 2**20, 0)


def seconds_of(item: Item) -> float:
    """A machine that follows the form exactly: F has a floor, e is 1e-9 s, g is 1e-8 s."""
    if item.kind == "copy":
        return 1e-5 + item.size_bytes / 2e12
    seconds, c = 0.0, item.c
    for n in item.pieces:
        own = 2e-3 if n == 1 else max(4e-3, 2e-5 * n)
        seconds += own + 1e-9 * n * (c + n / 2) + 1e-8 * c
        c += n
    return seconds * item.batch


def measured(
    path: Path, times: Callable[[Item], float | None] = seconds_of, groups: int = 1
) -> Measured:
    journal = MeasurementJournal(path / "journal", {})
    for block in BLOCKS:
        for item in block.items:
            seconds = times(item)
            if seconds is None:
                journal.add_skipped(item.name, "out of memory", 0.0)
            else:
                for factor in (1.0, 1.001, 0.999):
                    journal.add_seconds(item.name, seconds * factor, 0.0)
    journal.close()
    return Measured(journal, BLOCKS, "median", "cuda", groups, ("a warning from before",))


def profile_of(measurements: Measured) -> Profile:
    return assemble(measurements, dict(PARTS), 0)


def warnings(profile: Profile) -> tuple[str, ...]:
    assert profile.validation is not None
    return profile.validation.warnings


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    profile = profile_of(measured(tmp_path))
    assert profile.prefill.e_us_per_pair == pytest.approx(1e-3, rel=1e-3)
    assert profile.prefill.g_us_per_token == pytest.approx(1e-2, rel=1e-2)
    cost = CostModel(profile)
    for c, n in [(0, 64), (0, 8192), (4096, 512), (131_072, 2048)]:
        assert cost.prefill_seconds(c, c + n) == pytest.approx(
            seconds_of(Item("prefill", c, (n,))), rel=5e-3
        )
    assert (profile.valid_n_max, profile.valid_c_max) == (8192, 131_072)
    assert profile.io.d2d.latency_us == pytest.approx(10, rel=1e-2)
    assert profile.io.d2d.gbps == pytest.approx(2000, rel=1e-2)
    assert profile.io.disk is not None
    assert profile.prefill.floor_graph_us == pytest.approx(4000, rel=1e-2)
    assert warnings(profile) == ("a warning from before",)


def test_coefficients_that_nothing_needs_are_zero_not_below(tmp_path: Path) -> None:
    def times(item: Item) -> float:
        return seconds_of(item) if item.kind == "copy" else 1e-3 * sum(n**0.9 for n in item.pieces)

    prefill = profile_of(measured(tmp_path, times)).prefill
    assert prefill.draws
    for form in (prefill, *prefill.draws):
        assert form.e_us_per_pair >= 0
        assert form.g_us_per_token >= 0


def test_a_snapshot_costs_latency_and_bytes(tmp_path: Path) -> None:
    profile = profile_of(measured(tmp_path))
    size = PARTS["state"]["bytes_per_checkpoint"]
    captured = CostModel(profile).capture_seconds(0, 100, [100])
    assert captured == pytest.approx(1e-5 + size / 2e12, rel=1e-2)


def test_one_group_counts_for_all(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, fifteen = (
        profile_of(measured(folder, groups=groups))
        for folder, groups in ((tmp_path, 1), (tmp_path / "other", 15))
    )
    ratio = CostModel(fifteen).prefill_seconds(0, 512) / CostModel(one).prefill_seconds(0, 512)
    assert ratio == pytest.approx(15, rel=1e-6)
    assert fifteen.io.d2d == one.io.d2d
    assert fifteen.decode is not None
    assert one.decode is not None
    assert fifteen.decode["us"][0] == pytest.approx(15 * one.decode["us"][0], rel=1e-6)


def test_out_of_memory_shrinks_the_range_and_is_said(tmp_path: Path) -> None:
    def times(item: Item) -> float | None:
        return None if item.c + item.n > 60_000 and item.kind == "prefill" else seconds_of(item)

    profile = profile_of(measured(tmp_path, times))
    assert profile.valid_c_max == 16_384
    assert profile.valid_n_max == 8192
    assert any("out of memory: 30 points were not measured" in text for text in warnings(profile))


def test_a_long_prefill_without_memory_says_nothing_of_contexts(tmp_path: Path) -> None:
    def times(item: Item) -> float | None:
        return (
            None if item.c == 0 and item.n == 8192 and item.kind == "prefill" else seconds_of(item)
        )

    profile = profile_of(measured(tmp_path, times))
    assert (profile.valid_n_max, profile.valid_c_max) == (4096, 131_072)


def test_missed_targets_are_warnings(tmp_path: Path) -> None:
    def times(item: Item) -> float:
        return seconds_of(item) * (1.3 if item.kind == "held-out" else 1.0)

    sentences = warnings(profile_of(measured(tmp_path, times)))
    assert any(text.startswith("held-out error of 2") and "above 5%" in text for text in sentences)
    assert any(text.startswith("worst held-out error -2") for text in sentences)


def test_without_held_out_points_it_is_said(tmp_path: Path) -> None:
    def times(item: Item) -> float | None:
        return None if item.kind == "held-out" else seconds_of(item)

    assert any(
        "no held-out points" in text for text in warnings(profile_of(measured(tmp_path, times)))
    )


def test_cuts_are_held_against_the_fit(tmp_path: Path) -> None:
    validation = profile_of(measured(tmp_path)).validation
    assert validation is not None
    assert validation.notes is not None
    cuts = validation.notes["cuts"]
    assert isinstance(cuts, list)
    assert len(cuts) == 7
    for row in cuts:
        assert row["said_us"] == pytest.approx(row["us"], rel=0.01)
        assert row["us"] > row["whole_us"]


@pytest.mark.parametrize("kind", ["prefill", "copy"])
def test_too_little_is_one_line(tmp_path: Path, kind: str) -> None:
    def times(item: Item) -> float | None:
        return None if item.kind == kind else seconds_of(item)

    with pytest.raises(UsageError, match="too little was measured for a profile"):
        profile_of(measured(tmp_path, times))


def test_points_that_were_timed_less_often_count_as_much(tmp_path: Path) -> None:
    journal = MeasurementJournal(tmp_path / "journal", {})
    items = Item("prefill", 0, (1,)), Item("prefill", 0, (2,))
    for seconds in (3.0, 1.0, 2.0, 5.0, 4.0):
        journal.add_seconds(items[0].name, seconds, 0.0)
    for seconds in (30.0, 10.0, 20.0):
        journal.add_seconds(items[1].name, seconds, 0.0)
    journal.close()
    block = PlanBlock("prefill", items, 5)
    points = Measured(journal, [block], "minimum", "cpu", 1).points("prefill")
    assert points.seconds.shape == (2, 5)
    assert points.value.tolist() == [1.0, 10.0]
    middle = Measured(journal, [block], "median", "cpu", 1).points("prefill")
    assert middle.value.tolist() == [3.0, 20.0]
