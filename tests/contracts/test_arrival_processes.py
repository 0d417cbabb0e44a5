"""What every arrival process promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from simulator.base.errors import UsageError
from simulator.base.parameters import parameters_of
from workloads.arrivals import ARRIVALS, ArrivalProcess, process_name, read_process

every_process = pytest.mark.parametrize("name", list(ARRIVALS))


@pytest.fixture
def make(tmp_path: Path):
    """Return a process by name, with a file where it needs one."""
    trace = tmp_path / "t.jsonl"
    row = '{"timestamp": %d, "input_length": 5, "output_length": 1, "hash_ids": [1]}'
    trace.write_text("\n".join(row % (at * at) for at in range(50)))
    clients = {"pool": ["a"] * 3, "client": [0, 1, 2], "window_s": [0] * 3, "rate": [1.0] * 3}
    clients |= {"pattern": ["Gamma", "Gamma", "Weibull"], "param1": [0.3, 2.0, 0.6]}
    pl.DataFrame(clients).write_parquet(tmp_path / "w.parquet")
    files = {"trace": f"path={trace}", "servegen": f"path={tmp_path / 'w.parquet'}"}

    def process(name: str, rate: float | None = None) -> ArrivalProcess:
        knobs = [files.get(name, ""), "" if rate is None else f"rate={rate}"]
        return read_process(f"{name}:{','.join(knobs)}")

    return process


@every_process
def test_times_ascend_from_zero_and_repeat(make, name: str) -> None:
    process = make(name, 3.0)
    times = process.times(500, seed=2)
    assert times.dtype == np.float64
    assert times[0] == 0
    assert (np.diff(times) >= 0).all()
    assert np.isfinite(times).all()
    assert (times == process.times(500, seed=2)).all()
    if name != "trace":
        assert not np.allclose(times, process.times(500, seed=3))


@every_process
def test_fewer_requests_are_the_first_of_more(make, name: str) -> None:
    process = make(name)
    assert process.times(0, seed=1).tolist() == []
    assert process.times(1, seed=1).tolist() == [0.0]
    few, many = process.times(40, seed=1), process.times(400, seed=1)
    assert np.allclose(few, many[:40], rtol=1e-9)


@every_process
def test_the_rate_is_a_parameter(make, name: str) -> None:
    process = make(name)
    assert process.at_rate(7.0) == make(name, 7.0)
    assert make(name, 7.0).rate_per_second == 7.0
    times = make(name, 50.0).times(20_000, seed=1)
    if name not in {"diurnal", "flash", "mmpp"}:  # those are held to it over whole periods
        assert 20_000 / times[-1] == pytest.approx(50.0, rel=0.15)
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e9):
        with pytest.raises(UsageError, match="rate"):
            process.at_rate(wrong)


@every_process
def test_the_name_makes_the_same_process(make, name: str) -> None:
    process = make(name, 2.5)
    assert read_process(process_name(process)) == process


@every_process
def test_every_knob_is_documented_and_bounded(name: str) -> None:
    documented = (ARRIVALS[name].__doc__ or "").partition("Parameters\n")[2]
    for parameter in parameters_of(ARRIVALS[name]):
        assert parameter.name in documented
        if parameter.type is not str:
            for wrong in (-1, 1e12, float("nan"), True, "2"):
                with pytest.raises(UsageError, match=parameter.name):
                    ARRIVALS[name](**{parameter.name: wrong})


@every_process
def test_a_negative_count_is_refused(make, name: str) -> None:
    with pytest.raises(UsageError, match="count"):
        make(name).times(-1, seed=0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("poison", "arrivals 'poison': unknown name 'poison'; did you mean 'poisson'?"),
        ("gamma:cvs=2", "unknown parameter 'cvs'; did you mean 'cv'?"),
        ("gamma:cv=0", "cv: expected a number from 0.01 to 30.0, found 0.0"),
        ("gamma:cv=nan", "cv: expected a finite number, found 'nan'"),
    ],
)
def test_a_wrong_name_is_one_clear_line(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_process(name)
    assert message in str(error.value)
