from __future__ import annotations

from reports.trace.twin import TwinPoint, warning


def point(placer: str, capacity: int | None, twin: int) -> TwinPoint:
    return TwinPoint(placer, capacity, 500, 1000, twin, 1000)


def test_a_twin_that_is_close_needs_no_warning():
    assert warning([point("dense", 1 << 30, 529), point("last", None, 471)]) is None


def test_the_worst_capacity_is_named():
    sentence = warning([point("dense", 1 << 30, 540), point("last", 2 << 30, 420)])
    assert sentence is not None
    assert "up to 8.0 points" in sentence
    assert "(last, 2.0 GiB)" in sentence
