"""Profiles of sizes alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.catalogue import open_profile, profile_names
from simulator.base.errors import UsageError
from tests.calibration.test_model_config import GRANITE, written


def test_the_sizes_are_the_model_s_and_no_times_are_told(tmp_path: Path) -> None:
    named = open_profile("sizes:model=granite-4.0-h-small")
    read = open_profile(f"sizes:config={written(tmp_path, GRANITE)}")
    assert named.state_bytes == read.state_bytes == 36 * (128 * 64 * 128 * 4 + 8448 * 3 * 2)
    assert named.kv_bytes_per_token == read.kv_bytes_per_token == 4 * 2 * 8 * 128 * 2
    assert not named.tells_times
    assert all(open_profile(name).tells_times for name in profile_names())


def test_kv_may_be_compressed() -> None:
    plain = open_profile("sizes:model=nemotron-3-super-120b")
    halved = open_profile("sizes:model=nemotron-3-super-120b,kv=fp8")
    assert halved.kv_bytes_per_token * 2 == plain.kv_bytes_per_token == 8192


@pytest.mark.parametrize("name", ["sizes:", "sizes:model=jamba-v0.1,config=c.json"])
def test_one_model_is_expected(name: str) -> None:
    with pytest.raises(UsageError, match=r"sizes:model=jamba-v0\.1, or the path"):
        open_profile(name)


def test_a_model_without_flops_names_the_way_that_is_open() -> None:
    with pytest.raises(UsageError, match=r"sizes:model=jamba-v0\.1 simulates hit rates"):
        open_profile("analytic:model=jamba-v0.1")
    with pytest.raises(UsageError, match=r"sizes:config=CONFIG\.JSON tells the sizes"):
        open_profile("analytic:model=lfm2-8b-a1b")
