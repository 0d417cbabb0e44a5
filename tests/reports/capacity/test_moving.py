"""An answer and its variations are sought on one range."""

from __future__ import annotations

from typing import Any

import pytest

from reports.capacity.finding import CapacityQuestion, find_capacity
from reports.capacity.moving import against_expectation
from reports.capacity.sentences import suffices
from reports.capacity.target import parse_target
from tests.reports.capacity.test_finding import generated


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A study whose smallest stated capacity is far more than the target takes."""
    stated = generated(**{"grid.cache.capacity": ["16 GiB", "32 GiB"], "study.replications": 1})
    target = parse_target("token_hit_rate>=20%")
    asked = CapacityQuestion(stated, target, within=0.1, sensitivity=True)
    return find_capacity(asked, tmp_path_factory.mktemp("moving"), 1)


def tried(answer: dict[str, Any]) -> list[int]:
    return [trial["capacity_bytes"] for trial in answer["trials"]]


def test_the_answer_itself_is_sought_below_the_smallest_that_is_stated(
    report: dict[str, Any],
) -> None:
    answer = report["answers"][report["best"]]
    assert answer["capacity_bytes"] < 16 << 30
    assert answer["missed_below_bytes"] is not None
    assert "the least that was tried" not in suffices(answer)


def test_variations_and_answer_reach_as_far_down_and_up(report: dict[str, Any]) -> None:
    base = report["answers"][report["best"]]
    varied = [item["answer"] for item in report["sensitivity"] if item["answer"]]
    assert len(varied) == 6
    assert {min(tried(answer)) for answer in varied} == {min(tried(base))}
    assert {max(tried(answer)) for answer in varied} == {max(tried(base))}


def test_more_traffic_does_not_seem_to_need_a_quarter(report: dict[str, Any]) -> None:
    base = report["answers"][report["best"]]
    busier = next(item for item in report["sensitivity"] if item["name"] == "traffic +20 %")
    assert busier["answer"]["capacity_bytes"] > 0.8 * base["capacity_bytes"]


def answer_at(capacity: int | None, low: int | None, high: int | None, **values: Any) -> Any:
    trials = [{"capacity_bytes": size, "value": value} for size, value in ((8, 0.3), (16, 0.4))]
    return {
        "capacity_bytes": capacity,
        "low_bytes": low,
        "high_bytes": high,
        "uneven": False,
        "halved": True,
        "trials": trials,
        **values,
    }


def test_less_memory_for_more_load_is_told_with_its_reason() -> None:
    base = answer_at(16, 8, 16)
    item = {"name": "traffic +20 %", "answer": answer_at(8, 4, 16)}
    text = against_expectation(item, base, "token_hit_rate")
    assert text is not None
    assert text.startswith("traffic +20 %: needs less memory, against the expectation; the interv")
    assert text.endswith(": at 16 B 40 % as asked, 40 % then")
    uneven = {"name": "traffic +20 %", "answer": answer_at(4, 2, 4, uneven=True)}
    assert "worse in places" in str(against_expectation(uneven, base, "token_hit_rate"))


@pytest.mark.parametrize(
    ("name", "capacity"),
    [("traffic +20 %", 32), ("traffic -20 %", 8), ("KV in fp8", 16), ("traffic +20 %", None)],
)
def test_what_is_expected_needs_no_word(name: str, capacity: int | None) -> None:
    item = {"name": name, "answer": answer_at(capacity, 4, 64)}
    assert against_expectation(item, answer_at(16, 8, 16), "token_hit_rate") is None


def test_the_least_that_was_tried_is_said_only_of_the_least() -> None:
    least = answer_at(8, None, 8)
    assert suffices(least) == "8 B, the least that was tried, suffice"
    perhaps = suffices(answer_at(16, None, 16))
    assert (
        perhaps == "16 B (16 B surely; perhaps less, down to 8 B, the least that was tried) suffice"
    )
