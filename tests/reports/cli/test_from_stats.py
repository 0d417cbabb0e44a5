from __future__ import annotations

import json

import pytest

from workloads.opening import open_trace
from workloads.store import save
from workloads.synthetic import SyntheticSpec
from workloads.synthetic import generate as built_in


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("twin") / "original.parquet"
    save(built_in(SyntheticSpec(requests=400)), path)
    return path


def test_a_twin_is_written_and_held_against_the_original(milepost, original, tmp_path):
    twin, stats = tmp_path / "twin.parquet", tmp_path / "stats.json"
    ended = milepost("trace", "from-stats", original, "--out", twin, "--stats", stats, "--json")
    assert ended.code == 0
    assert len(open_trace(twin)) == ended.json["requests"] == 400
    points = ended.json["token_hit_rates"]
    assert {point["placer"] for point in points} == {"dense", "last"}
    assert len(points) == 12
    for point in points:
        rates = [
            100 * point[f"{which}_saved_tokens"] / point[f"{which}_prompt_tokens"]
            for which in ("twin", "original")
        ]
        assert point["difference_points"] == pytest.approx(rates[0] - rates[1], abs=1e-3)
    capacities = [point["capacity_bytes"] for point in points[:6]]
    assert capacities[:5] == sorted(capacities[:5])
    assert capacities[5] is None


def test_statistics_alone_give_the_same_twin(milepost, original, tmp_path):
    one, other, stats = (tmp_path / name for name in ("one.parquet", "other.parquet", "s.json"))
    milepost("trace", "from-stats", original, "--out", one, "--stats", stats, "--seed", 3)
    ended = milepost("trace", "from-stats", stats, "--out", other, "--seed", 3)
    assert ended.code == 0
    assert "400 requests" in ended.out
    assert one.read_bytes() == other.read_bytes()


def test_the_number_of_requests_can_be_told(milepost, original, tmp_path):
    ended = milepost(
        "trace", "from-stats", original, "--out", tmp_path / "t.jsonl", "--requests", 150
    )
    assert ended.code == 0
    assert "150 requests" in ended.out
    assert "points" in ended.out


def test_hostile_statistics_are_bad_data(milepost, original, tmp_path):
    stats = tmp_path / "s.json"
    milepost("trace", "from-stats", original, "--out", tmp_path / "t.parquet", "--stats", stats)
    plain = json.loads(stats.read_text())
    plain["boxes"][0]["rows"] = -1
    stats.write_text(json.dumps(plain))
    ended = milepost("trace", "from-stats", stats, "--out", tmp_path / "u.parquet")
    assert ended.code == 3
    assert "boxes[0].rows" in ended.err
    assert not (tmp_path / "u.parquet").exists()


def test_flags_that_mean_nothing_are_refused(milepost, original, tmp_path):
    stats = tmp_path / "s.json"
    milepost("trace", "from-stats", original, "--out", tmp_path / "t.parquet", "--stats", stats)
    ended = milepost("trace", "from-stats", stats, "--out", tmp_path / "u.parquet", "--block", 16)
    assert ended.code == 2
    assert "statistics are read as they are" in ended.err
    assert milepost("trace", "from-stats", original, "--out", tmp_path / "u.csv").code == 2
