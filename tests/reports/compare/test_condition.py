from __future__ import annotations

import pytest

from reports.compare import Compared, parse_condition
from reports.compare.measures import MEASURES
from reports.statistics import Estimate
from simulator.base.errors import UsageError


def compared(name: str, a: float | None, b: float | None) -> Compared:
    difference = None if a is None or b is None else Estimate(b - a)
    return Compared.of({}, MEASURES[name], a, b, difference)


@pytest.mark.parametrize(
    ("text", "a", "b", "breaks"),
    [
        ("token_hit_rate<-1%", 0.5, 0.496, False),  # 0.8 % of A
        ("token_hit_rate<-1%", 0.5, 0.494, True),  # 1.2 % of A
        ("token_hit_rate<-1points", 0.5, 0.494, False),  # 0.6 points
        ("token_hit_rate < -1 points", 0.5, 0.485, True),
        ("token_hit_rate<-1%", 0.5, 0.6, False),
        ("token_hit_rate<0%", 0.5, 0.5, False),
        ("token_hit_rate<+2%", 0.5, 0.505, True),  # it had to gain 2 %
        ("mean_ttft>+5%", 0.1, 0.106, True),
        ("mean_ttft>5%", 0.1, 0.104, False),
        ("p99_ttft>50ms", 0.1, 0.149, False),
        ("p99_ttft>50ms", 0.1, 0.151, True),
        ("p90_ttft<-0.5s", 2.0, 1.4, True),
        ("token_hit_rate>5%", 0.0, 0.001, True),  # beyond every share of nothing
        ("token_hit_rate<-5%", 0.0, 0.001, False),
        ("token_hit_rate>5%", 0.0, 0.0, False),
    ],
)
def test_a_condition_breaks_beyond_its_limit(text: str, a: float, b: float, breaks: bool) -> None:
    condition = parse_condition(text)
    assert condition.broken(compared(condition.measure.name, a, b)) is breaks


def test_what_is_not_known_does_not_pass() -> None:
    with pytest.raises(UsageError, match=r"p99_ttft is not known in both .*fewer than 368 req"):
        parse_condition("p99_ttft>5%").broken(compared("p99_ttft", None, 1.0))
    condition = parse_condition("p99.9_ttft>5ms")
    unknown = Compared.of({}, condition.measure, None, None, None)
    with pytest.raises(UsageError, match=r"fewer than 3,688 .* where study.percentiles asks"):
        condition.broken(unknown)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a measure, < or >"),
        ("token_hit_rate", "expected a measure, < or >"),
        ("token_hit_rate<=1%", "expected a measure, < or >"),
        ("token_hit_rate<-inf%", "expected a measure, < or >"),
        ("token_hit_rat<-1%", "did you mean 'token_hit_rate'"),
        ("token_hit_rate<-1", "expected % .* found no unit"),
        ("token_hit_rate<-1ms", "expected % .* found 'ms'"),
        ("mean_ttft>5", "or a time, .* found no unit"),
        ("mean_ttft>5points", "unknown unit 'points'"),
    ],
)
def test_a_bad_condition_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_condition(text)
