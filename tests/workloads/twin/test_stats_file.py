from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.synthetic import SyntheticSpec
from workloads.synthetic import generate as built_in
from workloads.twin import fit, read_stats, write_stats
from workloads.twin.stats import is_stats


@pytest.fixture(scope="module")
def stats():
    return fit(built_in(SyntheticSpec(requests=300)))


@pytest.fixture
def written(stats, tmp_path):
    path = tmp_path / "stats.json"
    write_stats(stats, path)
    return path


def test_statistics_come_back_as_they_were(stats, written):
    assert read_stats(written) == stats
    assert is_stats(written)
    first = written.read_bytes()
    write_stats(read_stats(written), written)
    assert written.read_bytes() == first


def test_other_files_are_no_statistics(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text('{"timestamp": 0, "input_length": 3, "hash_ids": [1]}\n')
    assert not is_stats(path)
    with pytest.raises(DataError, match="statistics of a trace"):
        read_stats(path)


def set_at(value, *keys):
    def change(plain):
        place = plain
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


HOSTILE = [
    (set_at("milepost-trace", "format"), "format milepost-twin"),
    (set_at(2, "version"), "version"),
    (set_at("many", "requests"), "field 'requests'"),
    (set_at(10**9, "requests"), "field 'requests'"),
    (set_at(True, "granularity"), "field 'granularity'"),
    (set_at(0, "granularity"), "field 'granularity'"),
    (set_at(1, "surprise"), "surprise"),
    (set_at([], "boxes"), "field 'boxes'"),
    (set_at(99, "boxes", 0, "kind"), r"field 'boxes\[0\].kind'"),
    (set_at(0, "boxes", 0, "rows"), r"field 'boxes\[0\].rows'"),
    (set_at([1, 2], "boxes", 1, "low"), "expected 8 numbers"),
    (set_at([1.5] * 8, "boxes", 1, "low"), r"boxes\[1\].low"),
    (set_at([-1] * 8, "boxes", 1, "low"), r"boxes\[1\].low"),
    (set_at([10**13] * 8, "boxes", 1, "high"), r"boxes\[1\].high"),
    (set_at([10**9] * 8, "boxes", 1, "mean"), r"field 'boxes\[1\].mean': expected slice from"),
    (set_at("hot", "kinds", 0, "meeting"), "kinds"),
    (set_at("source's", "kinds", 0, "session"), "cold request has no source"),
    (set_at(7, "kinds", 0, "label"), r"field 'kinds\[0\].label': expected less than 3, found 7"),
    (set_at(-2, "kinds", 0, "label"), r"field 'kinds\[0\].label'"),
    (set_at(0, "arrivals", "tick_seconds"), "tick_seconds"),
    (set_at(1, "arrivals", "boxes", 0, "kind"), r"field 'arrivals.boxes\[0\].kind'"),
]


@pytest.mark.parametrize(("change", "text"), HOSTILE, ids=[str(at) for at in range(len(HOSTILE))])
def test_hostile_statistics_get_one_clear_line(written, change, text):
    plain = json.loads(written.read_text())
    change(plain)
    written.write_text(json.dumps(plain))
    with pytest.raises(DataError, match=text) as refused:
        read_stats(written)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": "milepost-twin", "requests": NaN}', "[" * 99999]
)
def test_broken_json_gets_one_clear_line(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(DataError) as refused:
        read_stats(path)
    assert "\n" not in str(refused.value)
