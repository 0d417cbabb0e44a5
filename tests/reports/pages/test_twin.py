from __future__ import annotations

from reports.pages.twin import twin_report
from reports.report import Report
from reports.trace.twin import TwinPoint


def point(placer: str, capacity: int | None, twin: int) -> TwinPoint:
    return TwinPoint(placer, capacity, 500, 1000, twin, 1000)


def report_of(*points: TwinPoint) -> Report:
    return twin_report(points, {}, "original", "")


def test_a_twin_that_is_close_has_no_caveat():
    assert not report_of(point("dense", 1 << 30, 529), point("last", None, 471)).caveats


def test_the_worst_capacity_is_named():
    report = report_of(point("dense", 1 << 30, 540), point("last", 2 << 30, 420))
    assert "up to 8.0 points" in report.answer
    (caveat,) = report.caveats
    assert "(last, 2.0 GiB)" in caveat
