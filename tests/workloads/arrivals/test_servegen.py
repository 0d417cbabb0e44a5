"""Arrivals of ServeGen windows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from simulator.base.errors import DataError
from tests.workloads.laws import assert_dispersion, assert_mean
from workloads.arrivals import read_process
from workloads.arrivals.servegen import ServeGen
from workloads.gaps import Client

ROWS = {
    "pool": ["a", "a", "a", "b"],
    "client": [0, 1, 2, 0],
    "window_s": [0, 0, 0, 600],
    "rate": [2.0, 0.0, 0.5, 1.0],
    "pattern": ["Gamma", "", "Weibull", "Gamma"],
    "param1": [0.25, 0.0, 0.5, 1.0],
}


@pytest.fixture
def windows(tmp_path):
    def write(**changed):
        path = tmp_path / "windows.parquet"
        pl.DataFrame(ROWS | changed).write_parquet(path)
        return path

    return write


@pytest.mark.parametrize("pattern", ["Gamma", "Weibull"])
@pytest.mark.parametrize("shape", [0.1, 0.5, 3.0])
def test_a_client_is_in_its_steady_state_from_the_start(pattern, shape):
    client = Client(0, 2.0, pattern, shape)
    drawn = [client.until(20.0, seed) for seed in range(1500)]
    # so its mean count is rate * time in every part of the time, the first included
    assert_mean([np.count_nonzero(times < 0.5) for times in drawn], 1.0)
    assert_mean([len(times) for times in drawn], 40.0)


def test_clients_are_laid_over_each_other_at_their_rates(windows):
    process = read_process(f"servegen:path={windows()},pool=a")
    assert process.rate_per_second == 2.5
    times = process.times(100_000, seed=1)
    counts = np.bincount((times / 500).astype(np.int64))[:-1]
    assert_mean(counts, 1250.0)
    # squared cv of the gaps: 4 of the gamma client, 5 of the Weibull one
    assert_dispersion(counts, (2.0 * 4 + 0.5 * 5) / 2.5)


def test_a_rate_stretches_time_only(windows):
    path = windows()
    own = read_process(f"servegen:path={path},pool=a").times(500, seed=3)
    fast = read_process(f"servegen:path={path},pool=a,rate=5").times(500, seed=3)
    assert np.allclose(own, 2 * fast)
    assert (own[:100] == read_process(f"servegen:path={path},pool=a").times(100, seed=3)).all()


def test_windows_of_real_clients(shared):
    path = shared / "data/servegen/arrival_windows.parquet"
    process = ServeGen(path=str(path), pool="m-small", window=600)
    rows = pl.read_parquet(path).filter((pl.col("pool") == "m-small") & (pl.col("window_s") == 600))
    assert len(process.clients()) == rows.filter(pl.col("rate") > 0).height
    assert process.rate_per_second == pytest.approx(rows["rate"].cast(pl.Float64).sum())
    times = process.times(20_000, seed=0)
    assert len(times) == 20_000
    assert 20_000 / times[-1] == pytest.approx(process.rate_per_second, rel=0.1)


@pytest.mark.parametrize(
    ("changed", "knobs", "message"),
    [
        ({}, "", "no pool ''; expected one of: a, b"),
        ({}, ",pool=c", "no pool 'c'"),
        ({}, ",pool=a,window=1", "no client of pool 'a' is active at 1 s"),
        ({"pattern": ["Pareto", "", "Weibull", "Gamma"]}, ",pool=a", "field 'pattern': client 0"),
        (
            {"param1": [0.0, 0.0, 0.5, 1.0]},
            ",pool=a",
            "field 'param1': client 0: expected a number",
        ),
        ({"rate": [float("nan"), 0.0, 0.5, 1.0]}, ",pool=a", "field 'rate': client 0"),
        ({"param1": [None, 0.0, 0.5, 1.0]}, ",pool=a", "found None"),
        ({"pattern": [1, 2, 3, 4]}, ",pool=a", "field 'pattern': expected a column of text"),
        ({"rate": ["1", "", "2", "3"]}, ",pool=a", "field 'rate': expected a column of numbers"),
    ],
)
def test_a_window_that_makes_no_sense_is_one_line(windows, changed, knobs, message):
    process = read_process(f"servegen:path={windows(**changed)}{knobs}")
    with pytest.raises(DataError, match=r"windows\.parquet") as error:
        process.times(10, seed=0)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_no_parquet(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"nothing")
    for name in ("x.parquet", "y.parquet", ""):
        with pytest.raises(DataError):
            ServeGen(path=str(tmp_path / name)).times(1, seed=0)
