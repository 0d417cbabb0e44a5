"""Names of placers in a drift study."""

from __future__ import annotations

import pytest

from reports.drift.findings import kind, label


@pytest.mark.parametrize(
    ("placer", "expected"),
    [
        ("clairvoyant", ("clairvoyant", "clairvoyant")),
        ("optimal:budget=2,train=50", ("static", "kept after 50")),
        ("optimal:budget=2", ("window", "window 100")),
        ("optimal:budget=2,window=50,drift=0.01", ("change", "on change, window 50")),
        ("optimal:budget=2,decay=0.98,replan=5", ("decay", "decay 0.98, every 5")),
        ("optimal:budget=2,decay=0.98,predict=trend", ("predicted", "trend, decay 0.98")),
    ],
)
def test_a_placer_has_a_kind_and_a_label(placer: str, expected: tuple[str, str]) -> None:
    assert (kind(placer), label(placer)) == expected
