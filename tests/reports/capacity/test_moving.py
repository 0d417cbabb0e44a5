"""An answer and its variations are sought on one range."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reports.capacity.answering import answer_of
from reports.capacity.answers import Answer, CapacityResult
from reports.capacity.candidates import candidates
from reports.capacity.finding import CapacityQuestion, find_capacity
from reports.capacity.moving import against_expectation
from reports.capacity.search import SIDES, Crossing, SearchResult
from reports.capacity.target import parse_target
from reports.pages.capacity.sentences import suffices
from tests.reports.capacity.examples import HIT_RATE, trial
from tests.reports.capacity.test_finding import generated


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CapacityResult:
    """A study whose smallest stated capacity is far more than the target takes."""
    stated = generated(**{"grid.cache.capacity": ["16 GiB", "32 GiB"], "study.replications": 1})
    target = parse_target("token_hit_rate>=20%")
    asked = CapacityQuestion(stated, target, within=0.1, sensitivity=True)
    return find_capacity(asked, tmp_path_factory.mktemp("moving"), 1)


def tried(answer: Answer) -> list[int]:
    return [trial.capacity_bytes for trial in answer.trials]


def test_the_answer_itself_is_sought_below_the_smallest_that_is_stated(
    report: CapacityResult,
) -> None:
    answer = report.answers[0]
    assert answer.capacity_bytes < 16 << 30
    assert answer.missed_below_bytes is not None
    assert "the least that was tried" not in suffices(answer)


def test_variations_and_answer_reach_as_far_down_and_up(report: CapacityResult) -> None:
    base = report.answers[0]
    varied = [item.answer for item in report.sensitivity if item.answer]
    assert len(varied) == 6
    assert {min(tried(answer)) for answer in varied} == {min(tried(base))}
    assert {max(tried(answer)) for answer in varied} == {max(tried(base))}


def test_more_traffic_does_not_seem_to_need_a_quarter(report: CapacityResult) -> None:
    base = report.answers[0]
    busier = next(item for item in report.sensitivity if item.name == "traffic +20 %")
    assert busier.answer.capacity_bytes > 0.8 * base.capacity_bytes


def answer_at(capacity: int | None, low: int | None, high: int | None, **values: Any) -> Answer:
    trials = [trial(8, 0.3), trial(16, 0.4), trial(32, 0.4), trial(4, 0.3)]
    result = SearchResult(tuple(trials), dict.fromkeys(SIDES, Crossing(None, None)), (), False)
    (candidate,) = candidates(generated(**{"study.replications": 1}))[1]
    answer = replace(answer_of(candidate, result, None), low_bytes=low, high_bytes=high, value=0.4)
    return replace(answer, capacity_bytes=capacity, **values)


def test_less_memory_for_more_load_is_told_with_its_reason() -> None:
    base = answer_at(16, 8, 16)
    text = against_expectation("traffic +20 %", answer_at(8, 4, 16), base, HIT_RATE.metric)
    assert text is not None
    assert text.startswith("traffic +20 %: needs less memory, against the expectation; the interv")
    assert text.endswith(": at 16 B 40.0 % as asked, 40.0 % then")  # one number of digits
    uneven = answer_at(4, 2, 4, uneven=True)
    text = against_expectation("traffic +20 %", uneven, base, HIT_RATE.metric)
    assert "worse in places" in str(text)


@pytest.mark.parametrize(
    ("name", "capacity"),
    [("traffic +20 %", 32), ("traffic -20 %", 8), ("KV in fp8", 16), ("traffic +20 %", None)],
)
def test_what_is_expected_needs_no_word(name: str, capacity: int | None) -> None:
    answer = answer_at(capacity, 4, 64)
    assert against_expectation(name, answer, answer_at(16, 8, 16), HIT_RATE.metric) is None


def test_the_least_that_was_tried_is_said_only_of_the_least() -> None:
    least = answer_at(8, None, 8, trials=answer_at(8, None, 8).trials[:2])
    assert suffices(least) == "8 B, the least that was tried, suffice"
    perhaps = answer_at(16, None, 16, trials=least.trials)
    assert suffices(perhaps) == (
        "16 B (16 B surely; perhaps less, down to 8 B, the least that was tried) suffice"
    )
