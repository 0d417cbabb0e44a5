"""Capacities found in real studies, against all that there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reports.capacity.answers import Answer
from reports.capacity.finding import CapacityQuestion, find_capacity
from reports.capacity.price import Prices
from reports.capacity.target import parse_target
from reports.pages.capacity import capacity_report
from reports.study.layers import read_settings
from reports.study.settings import Settings
from simulator.base.errors import UsageError
from tests.reports.capacity.examples import study

# As FIFO goes through the anomaly: 2 tokens a hit, of 36 prompt tokens in all.
THREE_HITS, SEVEN_HITS = "token_hit_rate>=16%", "token_hit_rate>=38%"
GENERATED = {
    "workload.requests": 80,
    "workload.documents": 5,
    "study.replications": 3,
    "grid.cache.capacity": ["64 MiB", "1 GiB", "16 GiB"],
    "policy.placer": "branch",
}


def question(settings: Settings, target: str, **others: Any) -> CapacityQuestion:
    asked = CapacityQuestion(settings, parse_target(target), within=0.0, sensitivity=False)
    return replace(asked, **others)


def answer(folder: Path, target: str, capacities: list[int], **settings: Any) -> Answer:
    """Return the only answer of the anomaly's study."""
    stated = study(folder, **{"grid.cache.capacity": capacities, **settings})
    report = find_capacity(question(stated, target), folder / "out", 1)
    return report.answers[0]


def generated(**settings: Any) -> Settings:
    stated = GENERATED | settings
    return read_settings(None, [(key, value, "test") for key, value in stated.items()])


def every_value(folder: Path, capacities: range, **settings: Any) -> dict[int, float]:
    """Return the token hit rate at every capacity."""
    best = answer(folder, "token_hit_rate>=100%", list(capacities), **settings)
    return {trial.capacity_bytes: trial.value for trial in best.trials}


@pytest.mark.parametrize("eviction", ["fifo", "lru"])
def test_the_least_capacity_is_that_of_trying_all(tmp_path: Path, eviction: str) -> None:
    policy = {"policy.eviction": eviction}
    values = every_value(tmp_path, range(20, 84), **policy)
    brute = min(capacity for capacity, value in values.items() if value >= 0.38)
    (tmp_path / "again").mkdir()
    best = answer(tmp_path / "again", SEVEN_HITS, [20, 83], **policy)
    assert best.capacity_bytes == brute
    assert best.missed_below_bytes == brute - 1
    assert all(trial.value == values[trial.capacity_bytes] for trial in best.trials)


def test_belady_s_anomaly_is_not_halved_and_is_told(tmp_path: Path) -> None:
    # three documents fit into 48 bytes, four into 60: one hit less; all five into 76
    best = answer(tmp_path, THREE_HITS, [36, 48, 60, 76])
    assert [round(36 * t.value / 2) for t in best.trials] == [0, 3, 2, 7]
    assert best.capacity_bytes == 48
    assert not best.halved
    assert best.missed_above_bytes == (60,)
    assert best.missed_below_bytes == 36


def test_without_stated_capacities_powers_of_two_are_tried(tmp_path: Path) -> None:
    stated = study(tmp_path, **{"policy.eviction": "lru"})
    best = find_capacity(question(stated, SEVEN_HITS), tmp_path / "out", 1).answers[0]
    tried = [trial.capacity_bytes for trial in best.trials]
    # from one state, 10 B, to 22 distinct tokens of 1 B and 12 states
    assert {16, 32, 64, 128, 256} <= set(tried)
    assert max(tried) == 256


def test_unbounded_stands_for_all_there_is(tmp_path: Path) -> None:
    stated = study(tmp_path, **{"grid.cache.capacity": [40, "unbounded"]})
    best = find_capacity(question(stated, SEVEN_HITS), tmp_path / "out", 1).answers[0]
    assert max(trial.capacity_bytes for trial in best.trials) == 256
    assert "unbounded" in (tmp_path / "out" / "study.resolved.toml").read_text()


def test_a_target_out_of_reach(tmp_path: Path) -> None:
    stated = study(tmp_path, **{"grid.cache.capacity": [40, 80]})
    report = find_capacity(question(stated, "token_hit_rate>=90%"), tmp_path / "out", 1)
    assert report.best is None
    assert report.answers[0].capacity_bytes is None
    assert capacity_report(report).answer.startswith("No capacity that was tried meets")


def test_the_same_whatever_the_workers_and_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.execution.runner.START_SECONDS", 0.0)  # workers, however small
    asked = question(generated(**{"study.replications": 2}), "token_hit_rate>=20%", within=3.0)
    one = find_capacity(asked, tmp_path / "one", 1)
    two = find_capacity(asked, tmp_path / "two", 2)
    assert msgspec.json.encode(one) == msgspec.json.encode(two)
    kept = sorted((tmp_path / "one" / "journal").glob("[0-9a-f]*[0-9a-f].json"))
    for entry in kept[::2]:
        if entry.name != "header.json":
            entry.unlink()
    assert find_capacity(asked, tmp_path / "one", 1) == one
    with pytest.raises(UsageError, match="another study"):
        find_capacity(question(generated(), "token_hit_rate>=30%"), tmp_path / "one", 1)


def test_replications_give_an_interval_and_variations_move_the_answer(tmp_path: Path) -> None:
    asked = question(
        generated(), "token_hit_rate>=20%", within=0.9, sensitivity=True, prices=Prices(0.005, 3.0)
    )
    report = find_capacity(asked, tmp_path, 1)
    best = report.answers[0]
    assert best.method == "replications"
    assert best.low_bytes < best.capacity_bytes <= best.high_bytes
    moved = {item.name: item.answer for item in report.sensitivity}
    assert list(moved) == [
        "traffic +20 %",
        "traffic -20 %",
        "prompts 20 % longer",
        "a bigger model",
        "KV in fp8",
        "states in int8",
    ]
    assert all(answer.error is None for answer in moved.values())
    assert moved["KV in fp8"].capacity_bytes < best.capacity_bytes
    assert moved["states in int8"].capacity_bytes < best.capacity_bytes
    assert moved["a bigger model"].capacity_bytes > best.capacity_bytes
    costs = {t.capacity_bytes: t.dollars_per_million_tokens for t in best.trials}
    assert best.knee.dollars_per_million_tokens == pytest.approx(min(costs.values()))
    assert costs[best.knee.capacity_bytes] == pytest.approx(min(costs.values()))


def test_what_cannot_be_varied_honestly_says_why(tmp_path: Path) -> None:
    stated = study(tmp_path, **{"grid.cache.capacity": [40, 80]})
    asked = question(stated, SEVEN_HITS, sensitivity=True)
    items = find_capacity(asked, tmp_path / "out", 1).sensitivity
    assert {item.name: item.answer is None for item in items} == dict.fromkeys(
        [item.name for item in items], True
    )
    notes = {item.name: item.note for item in items}
    assert notes["traffic +20 %"] == "the instant server knows the order of requests only"
    assert "longer prompts" in notes["prompts 20 % longer"]
    assert "no larger model is known" in notes["a bigger model"]


def test_a_trace_with_times_is_stretched(tmp_path: Path) -> None:
    stated = study(tmp_path, server="queue", **{"grid.cache.capacity": [40, 80]})
    asked = question(stated, SEVEN_HITS, sensitivity=True)
    items = find_capacity(asked, tmp_path / "out", 1).sensitivity
    traffic = next(item for item in items if item.name == "traffic +20 %")
    assert traffic.answer.error is None
    assert "stretched to 0.12 requests/s" in traffic.note  # 11 gaps of 10 s


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("cost<=1", {}, "needs --prices"),
        ("throughput>=1/s", {}, "contradicts server.kind = 'instant'"),
        ("p50_ttft<=1s", {"grid.cache.capacity": []}, "expected a list of 1 to 64 sizes"),
        ("p50_ttft<=1s", {"grid.cache.capacity": ["much"]}, "grid.cache.capacity"),
        ("p50_ttft<=1s", {"policy.placer": "nowhere"}, "nowhere"),
        ("p50_ttft<=1s", {"study.replications": 3}, "one seed repeated is no evidence"),
    ],
)
def test_what_contradicts_itself_is_one_line(
    tmp_path: Path, target: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as error:
        find_capacity(question(study(tmp_path, **settings), target), tmp_path / "out", 1)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
