"""How the suites take in policies of one's own."""

from __future__ import annotations

import pytest

from policies.registry import KINDS
from simulator.base.errors import UsageError
from tests.contracts.plugins import names, own

SPECS = [
    "policies.eviction.clock:ClockEviction:bits=3",
    "policies.admission.size_aware:SizeAware:share=0.10",
    "policies.placement.block:Block:size=4",
    "policies.estimation.window:WindowEstimator",
]


@pytest.mark.parametrize(
    ("kind", "spelling"),
    [
        ("eviction", "policies.eviction.clock:ClockEviction:bits=3"),
        ("admission", "policies.admission.size_aware:SizeAware"),
        ("placer", "policies.placement.block:Block:size=4"),
        ("estimator", "policies.estimation.window:WindowEstimator"),
    ],
)
def test_each_goes_to_the_suite_of_its_kind(kind, spelling):
    assert own(kind, SPECS) == [spelling]
    assert set(KINDS[kind].classes) <= set(names(kind))


def test_what_is_no_policy_is_not_passed_over():
    with pytest.raises(UsageError, match="is no policy"):
        own("eviction", ["fractions:Fraction"])
