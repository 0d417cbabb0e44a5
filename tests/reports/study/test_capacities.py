"""Capacities in which nothing fits are refused, those that save nothing are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reports.capacity.candidates import candidates
from reports.study.capacities import least_useful_bytes, small_capacities, small_note
from reports.study.cells import expand
from reports.study.layers import read_settings
from reports.study.settings import Settings
from simulator.base.errors import UsageError
from tests.reports.pages.rendering import caveats_of

PAGE, STATE = 32 * 1024, 51_511_296  # of qwen3.5-9b-h200


def settings(**values: Any) -> Settings:
    return read_settings(None, [(key, value, "--set") for key, value in values.items()])


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("8", "8 bytes do not hold one page of KV, which takes 32.0 KiB .* did you mean '8 GiB'"),
        (8, "did you mean '8 GiB'"),
        (1.5, "did you mean '1.5 GiB'"),
        (" 64 ", "did you mean '64 GiB'"),
        ("8 kB", r"8,000 bytes do not hold one page .* qwen3.5-9b-h200 \(0 is no cache\)"),
        (PAGE - 1, "32,767 bytes do not hold"),
    ],
)
@pytest.mark.parametrize("key", ["cache.capacity", "grid.cache.capacity"])
def test_less_than_a_page_is_refused(key: str, stated: Any, message: str) -> None:
    value = [stated, "64 GiB"] if key.startswith("grid") else stated
    with pytest.raises(UsageError, match=message) as error:
        expand(settings(**{key: value}))
    assert "\n" not in str(error.value)


def test_the_search_for_a_capacity_refuses_it_too() -> None:
    stated = settings(**{"grid.cache.capacity": [8, "64 GiB"]})
    with pytest.raises(UsageError, match="did you mean '8 GiB'"):
        candidates(stated)


@pytest.mark.parametrize("stated", [0, PAGE, "1 MiB", "8 GiB", "unbounded"])
def test_what_holds_a_page_and_none_at_all_are_taken(stated: Any) -> None:
    assert expand(settings(**{"cache.capacity": stated}))[1]


def test_what_holds_no_state_is_told() -> None:
    def note(capacity: Any, placer: str = "adaptive") -> str | None:
        (cell,) = expand(settings(**{"cache.capacity": capacity, "policy.placer": placer}))[1]
        assert least_useful_bytes(cell.study) == PAGE + (0 if placer == "dense" else STATE)
        return small_note(cell.study)

    assert note(STATE + PAGE) is None
    assert note("unbounded") is None
    assert "does not hold one state (49.1 MiB) and a page of KV" in str(note(STATE + PAGE - 1))
    assert note("1 MiB", "dense") is None  # whose states are free
    assert note(0) == "capacity 0: there is no cache, so nothing can be saved"


def test_a_page_tells_it() -> None:
    sentences = caveats_of([], {"capacity_notes": ["capacity 1.0 MiB does not hold one state"]})
    assert "Capacity 1.0 MiB does not hold one state." in sentences


def test_the_toy_keeps_its_bytes(tmp_path: Path) -> None:
    from tests.reports.capacity.examples import study

    assert expand(study(tmp_path, **{"cache.capacity": 8}))[1]


def test_each_capacity_is_told_once() -> None:
    stated = settings(**{"grid.cache.capacity": ["1 MiB", "8 GiB"], "study.replications": 3})
    assert len(small_capacities(cell.study for cell in expand(stated)[1])) == 1


def test_a_placer_of_ones_own_that_holds_states_at_no_cost_needs_room_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from policies.placement.dense import Dense\n\n\nclass Mine(Dense):\n    pass\n"
    (tmp_path / "dense_of_mine.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    (cell,) = expand(settings(**{"policy.placer": "dense_of_mine:Mine"}))[1]
    assert least_useful_bytes(cell.study) == PAGE
