from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration.prototype.served import read_run, write_run
from simulator.base.errors import DataError
from tests.calibration.prototype.requests import run_of, served


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = run_of(served(0), served(1, 0.1, 0.3, positions=(64, 100)))
    write_run(tmp_path / "run.json", run)
    assert read_run(tmp_path / "run.json") == run


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"requests": []}, "field 'requests': expected at least one"),
        ({"schema_version": 2}, "field 'schema_version'"),
        ({"sameness": {"checked": 1, "resumed": 1}}, "field 'sameness.max_abs': missing"),
        ({"colour": "red"}, "field 'colour': unknown field"),
    ],
)
def test_a_file_that_is_no_run_is_refused_in_one_line(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = tmp_path / "run.json"
    write_run(path, run_of(served()))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DataError, match="run") as refused:
        read_run(path)
    assert said in str(refused.value)


def test_a_measured_time_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_run(path, run_of(served()))
    data = json.loads(path.read_text())
    data["requests"][0]["measured_seconds"] = 0.0
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"requests\[0\].measured_seconds"):
        read_run(path)
