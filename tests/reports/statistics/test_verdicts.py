"""The one rule for what is said of a difference, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.palette import _POLICIES, BETTER, COLOURS, WORSE
from reports.results.margins import Margins
from reports.statistics import Estimate, Margin
from reports.statistics.estimate import t_interval
from reports.study.sections import EvidenceSection


def between(low: float, high: float, p_holm: float | None = None) -> Estimate:
    """Return a difference with this 95 % interval, from sixteen blocks."""
    return Estimate((low + high) / 2, low, high, "blocks", 64, 15, p_holm)


@pytest.mark.parametrize(
    ("low", "high", "p_holm", "more", "less"),
    [
        (-0.4, 0.4, None, "tied", "tied"),  # covers zero, within the margin of 0.5
        (0.1, 0.4, 0.001, "tied", "tied"),  # surely not zero, and too little to matter
        (-0.5, 0.5, None, "tied", "tied"),  # the ends of the margin belong to it
        (-0.4, 0.6, None, "unsure", "unsure"),  # covers zero and is wider on one side
        (-9.0, 9.0, 1.0, "unsure", "unsure"),
        (0.1, 0.6, 0.2, "unsure", "unsure"),  # does not stand the correction
        (0.1, 0.6, 0.05, "unsure", "unsure"),
        (0.1, 0.6, 0.04, "better", "worse"),
        (0.1, 0.6, None, "better", "worse"),  # made alone
        (-0.6, -0.1, 0.04, "worse", "better"),
        (0.6, 0.9, 0.001, "better", "worse"),
    ],
)
def test_by_interval_margin_and_correction(
    low: float, high: float, p_holm: float | None, more: str, less: str
) -> None:
    difference = between(low, high, p_holm)
    for less_is_better, expected in ((False, more), (True, less)):
        judged = replace(difference, margin=Margin(0.5, less_is_better))
        assert judged.verdict == expected
        other = {"better": "worse", "worse": "better"}
        assert judged.opposite.verdict == other.get(expected, expected)


def test_without_an_interval_nothing_is_said_and_without_a_difference_nothing_differs() -> None:
    assert Estimate(0.001, margin=Margin(0.5)).verdict == "unknown"
    assert Estimate(0.0, margin=Margin(0.5)).verdict == "equal"
    assert replace(between(0.0, 0.0), margin=Margin(0.5)).verdict == "equal"


def test_without_a_margin_nothing_is_tied() -> None:
    assert between(-1e-9, 1e-9).verdict == "unsure"


def verdict_of(judged: Estimate | None) -> str:
    assert judged is not None
    return judged.verdict


def test_a_rate_is_tied_within_points_and_a_time_within_a_share_of_the_other() -> None:
    rate, time = between(-0.004, 0.004), between(-0.015, 0.015)
    usual = Margins()
    assert verdict_of(usual.rate(rate)) == "tied"
    assert verdict_of(usual.rate(time)) == "unsure"
    assert verdict_of(usual.time(time, 1.0)) == "tied"
    assert verdict_of(usual.time(time, 0.5)) == "unsure"
    assert verdict_of(usual.time(between(-0.2, -0.1), 1.0)) == "better"
    assert usual.rate(None) is usual.time(None, 1.0) is None


def test_a_study_states_its_margins_and_an_older_one_has_the_usual() -> None:
    assert Margins.of({"study": {"margin_points": 1, "margin_times": 0.1}}) == Margins(1, 0.1)
    assert Margins.of({}) == Margins.of({"study": {"seed": 3}}) == Margins(0.5, 0.02)
    assert Margins().text == "0.5 points of a rate or 2 % of a time"
    evidence = EvidenceSection.model_validate(
        {"margin_points": 1.0, "margin_times": "5 %"}
    ).model_dump()
    assert Margins.of({"study": evidence}) == Margins(1.0, 0.05)


def test_more_evidence_turns_unsure_into_tied_never_into_a_claim_of_what_does_not_matter() -> None:
    margin = Margin(0.5)
    verdicts = [
        replace(t_interval(0.2, 1 / n, 30, "blocks", 64), margin=margin).verdict
        for n in (1, 4, 16, 64)
    ]
    assert verdicts == ["unsure", "unsure", "tied", "tied"]


def test_better_and_worse_have_colours_that_no_policy_has() -> None:
    taken = {*COLOURS, *(look.colour for look in _POLICIES.values())}
    assert not {BETTER, WORSE} & taken
