"""What is said where no capacity meets a target, and what a cache that keeps everything reaches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reports.capacity.answers import CapacityResult
from reports.capacity.finding import CapacityQuestion, find_capacity
from reports.capacity.target import parse_target
from reports.pages.capacity import capacity_report
from reports.pages.capacity.sentences import main_texts, texts_beside, texts_of_moves
from reports.report import Report, Table
from reports.report.html import render
from reports.report.showing import show
from reports.study.settings import Settings
from tests.reports.capacity.examples import study

# Of the anomaly's 36 prompt tokens 7 prompts find 2 that came before; 76 bytes keep them all.
MOST = 14 / 36


def report_of(
    folder: Path, settings: Settings, target: str, *, sensitivity: bool = False
) -> CapacityResult:
    asked = CapacityQuestion(settings, parse_target(target), within=0.0, sensitivity=sensitivity)
    return find_capacity(asked, folder / "out", 1)


def tables(report: Report) -> list[Table]:
    return [block for block in report.sections[0].blocks if isinstance(block, Table)]


def test_the_best_that_was_reached_and_that_no_memory_reaches_more(tmp_path: Path) -> None:
    report = report_of(
        tmp_path, study(tmp_path, **{"grid.cache.capacity": [40]}), "token_hit_rate>=50%"
    )
    (answer,) = report.answers
    assert report.best is None
    assert answer.nearest.value == pytest.approx(MOST)
    assert answer.bound.value == pytest.approx(MOST)
    assert answer.bound.meets is False
    assert answer.memory_can_help is False
    page = render(capacity_report(report))
    assert "the best is 38.9 %, at 80 B" in page
    assert "would still give 38.9 % (a bound): no memory meets token hit rate" in page
    assert "server busy" not in " ".join(main_texts(report))  # the instant server has no clock


def test_more_is_possible_with_other_policies(tmp_path: Path) -> None:
    # states every 1,000 tokens are never stored
    stated = study(tmp_path, **{"policy.placer": "block:size=1000"})
    report = report_of(tmp_path, stated, "token_hit_rate>=30%")
    (answer,) = report.answers
    assert answer.nearest.value == 0.0
    assert answer.memory_can_help is True
    assert (
        "would give 38.9 % (a bound, which meets token hit rate >= 30 %)" in main_texts(report)[0]
    )


def test_an_overloaded_server_is_told_by_its_utilisation(tmp_path: Path) -> None:
    # a prompt of 3 tokens takes 3 s, one that finds 2 of them takes 1 s; one arrives every 1.2 s
    stated = study(tmp_path, server="queue", **{"arrivals.process": "trace:rate=0.8333"})
    report = report_of(tmp_path, stated, "mean_ttft<=1s")
    (answer,) = report.answers
    assert answer.memory_can_help is False
    nearest = answer.nearest
    assert nearest.server_utilisation == pytest.approx(1.0, abs=0.01)
    assert nearest.queue_grows
    text = " ".join(main_texts(report))
    assert "The server is busy 100.0 % of the time there (offered load" in text
    assert "its queue grows to the end of the trace" in text
    assert "It takes more replicas, a faster one, or less traffic" in text
    assert "The queue is said to grow where" in render(capacity_report(report))


def test_nothing_is_blank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = study(tmp_path, server="queue", **{"grid.policy.eviction": ["fifo", "lru"]})
    del stated.values["policy.eviction"]
    for target in ("token_hit_rate>=38%", "mean_ttft<=1ms"):
        (tmp_path / target).mkdir()
        report = report_of(tmp_path / target, stated, target, sensitivity=True)
        shown = capacity_report(report)
        rows = [row for table in tables(shown) for row in table.rows]
        assert all(str(cell).strip() for row in rows for cell in row)
        page = render(capacity_report(report))
        assert not re.search(r"<(td|th|dd)[^>]*>\s*</", page.replace("<th></th>", ""))
        assert 'class="note"></span>' not in page
        assert 'class="figure"></span>' not in page
        assert json.dumps(shown.data, allow_nan=False)
        show(shown, as_json=False)
        assert "  n/a" in capsys.readouterr().out or report.best is None


def test_variations_that_no_capacity_meets_say_why(tmp_path: Path) -> None:
    # 5 prompts of 3 s and 7 of 1 s, one every 3 s: nobody waits, 22 s / 12; at 2.5 s some do
    stated = study(tmp_path, server="queue", **{"arrivals.process": "trace:rate=0.33333"})
    report = report_of(tmp_path, stated, "mean_ttft<=1.9s", sensitivity=True)
    assert report.answers[0].value == pytest.approx(22 / 12, rel=1e-3)
    busier = next(item for item in report.sensitivity if item.name == "traffic +20 %")
    assert busier.answer.capacity_bytes is None
    assert busier.answer.nearest.value == pytest.approx((22 + 6) / 12, rel=1e-2)
    texts = texts_of_moves(report)
    assert texts[0].startswith("traffic +20 %: The server is busy")
    assert "no memory meets mean time to first token <= 1.90 s" in texts[1]
    _, moves = tables(capacity_report(report))
    (row,) = [row for row in moves.rows if row[0] == "traffic +20 %"]
    assert str(row[1]).startswith("none that was tried suffices: at best 2.33 s, at ")


def test_a_queue_that_grows_is_told_of_every_policy(tmp_path: Path) -> None:
    stated = study(
        tmp_path,
        server="queue",
        **{
            "arrivals.process": "trace:rate=0.8333",
            "grid.policy.placer": ["block:size=2", "block:size=1000"],
        },
    )
    del stated.values["policy.placer"]
    report = report_of(tmp_path, stated, "mean_ttft<=1s")
    best, other = report.answers
    assert not any("queue grows" in text for text in texts_beside(best, report))  # it is headed so
    assert any("its queue grows to the end" in text for text in texts_beside(other, report))
