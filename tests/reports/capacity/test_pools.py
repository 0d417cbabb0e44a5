"""The least capacity of a cache whose pools are split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reports.capacity.candidates import candidates, coarse_grid, ends_of
from reports.capacity.finding import CapacityQuestion, find_capacity
from reports.capacity.target import parse_target
from reports.pages.capacity import capacity_report, kept_report
from reports.pages.capacity.sentences import main_texts, texts_beside
from reports.report.html import render
from reports.report.store import store
from reports.study.settings import Settings
from reports.study.traces import facts_of, load_trace
from simulator.base.errors import UsageError
from tests.reports.capacity.examples import study

THREE_HITS = "token_hit_rate>=16%"  # of FIFO with three states: 2 tokens a hit, of 36 in all
KEPT = 30  # bytes of three states


def asked(settings: Settings, target: str = THREE_HITS, **others: Any) -> CapacityQuestion:
    return CapacityQuestion(
        settings, parse_target(target), within=0.0, **{"sensitivity": False, **others}
    )


def split(folder: Path, capacities: Sequence[object] = (), **settings: Any) -> Settings:
    grid = {"grid.cache.capacity": list(capacities)} if capacities else {}
    return study(folder, **{"cache.pools": "split:states=3", **grid, **settings})


def test_the_least_capacity_is_that_of_trying_all(tmp_path: Path) -> None:
    every = find_capacity(asked(split(tmp_path, range(KEPT, 64))), tmp_path / "all", 1)
    trials = every.answers[0].trials
    brute = min(trial.capacity_bytes for trial in trials if trial.value >= 0.16)
    for capacities in ([KEPT + 1, 40, 64], ()):
        report = find_capacity(
            asked(split(tmp_path, capacities)), tmp_path / f"{len(capacities)}", 1
        )
        (answer,) = report.answers
        assert answer.capacity_bytes == brute
        assert answer.error is None
        states, kv = answer.pools.states, answer.pools.kv
        assert (states.capacity_bytes, states.peak_bytes) == (KEPT, KEPT)
        assert kv.capacity_bytes == brute - KEPT >= kv.peak_bytes
        shown = capacity_report(report)
        store(shown, tmp_path)
        assert render(kept_report(tmp_path)) == render(shown)
        (words,) = (text for text in main_texts(report) if text.startswith("Of the "))
        assert words == (
            f"Of the {brute} B, {brute - KEPT} B are for KV (peak {kv.peak_bytes:.0f} B) and "
            f"{KEPT} B for states (peak {KEPT} B)"
        )
        assert words in render(shown)


def test_where_it_is_sought_begins_with_what_is_kept_for_states(tmp_path: Path) -> None:
    settings = split(tmp_path, **{"cache.pools": "split:states=4"})
    (candidate,) = candidates(settings)[1]
    facts = [facts_of(load_trace(candidate.study, 0), candidate.study)]
    everything = 2 * 5 + 12 + 40  # KV of all tokens, and the states that are kept
    assert coarse_grid(candidate, facts, ()) == [64]
    assert ends_of(candidate, facts).least == 40 + 1
    assert ends_of(candidate, facts).most == 1 << everything.bit_length()
    assert [cell.study.cache.pools for cell in candidate.saving_all()] == ["unified"]


def test_sizes_that_the_states_alone_exceed_are_said_in_one_line(tmp_path: Path) -> None:
    settings = split(tmp_path, [20, KEPT - 1, 64])
    report = find_capacity(asked(settings), tmp_path / "out", 1)
    line = "pools split:states=3: 20 B, 29 B not tried, which the states alone exceed (30 B)"
    assert report.warnings == (line,)
    tried = [trial.capacity_bytes for trial in report.answers[0].trials]
    assert min(tried) >= KEPT
    with pytest.raises(UsageError, match=r"'grid\.cache\.capacity': 29 B are less than the states"):
        find_capacity(asked(split(tmp_path, [20, KEPT - 1])), tmp_path / "none", 1)


def test_the_share_for_states_is_an_axis(tmp_path: Path) -> None:
    pools = ["unified", "split:states=3", "split:states=40B"]
    settings = study(tmp_path, **{"grid.cache.pools": pools, "grid.cache.capacity": [20, 48, 76]})
    report = find_capacity(asked(settings), tmp_path / "out", 1)
    answers = report.answers
    assert [answer.name for answer in answers] == [f"block:size=2 · pools {p}" for p in pools]
    assert answers[0].pools is None
    assert answers[1].pools.states.capacity_bytes == KEPT
    assert answers[2].capacity_bytes is None  # four frames have two hits only, with any KV
    assert report.best in (0, 1)
    beside = [text for answer in answers for text in texts_beside(answer, report)]
    assert sum(text.startswith("Of the ") for text in beside) == 1


def test_variations_are_tried_where_their_states_fit(tmp_path: Path) -> None:
    """A bigger model has larger states: the small sizes of the common grid hold no three."""
    settings = Settings({}, {}).with_value("workload.requests", 60, "test")
    for key, value in {
        "workload.documents": 3,
        "cache.pools": "split:states=3",
        "policy.placer": "branch",
        "grid.cache.capacity": ["160 MiB", "1 GiB"],
    }.items():
        settings = settings.with_value(key, value, "test")
    question = asked(settings, "token_hit_rate>=1%", sensitivity=True)
    report = find_capacity(question, tmp_path / "out", 1)
    assert report.best == 0
    varied = {item.name: item.answer for item in report.sensitivity}
    assert all(answer is None or answer.error is None for answer in varied.values())
    bigger, base = varied["a bigger model"], report.answers[0]
    assert bigger.pools.states.capacity_bytes > base.pools.states.capacity_bytes
    assert varied["states in int8"].pools.states.capacity_bytes < 3 * 51_511_296
