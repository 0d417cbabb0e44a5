"""Where states lie, worked by hand: a document of 4,000 tokens and short questions behind it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from reports.results.positions import flat_positions, positions_of
from reports.results.positions.columns import BIN_COLUMNS, COUNTS, OCTAVES, WORDS
from reports.results.positions.figures import Positions
from reports.results.positions.forks import NEVER, forks_seen
from reports.results.positions.histograms import all_counts, ends, octave
from simulator.simulation import simulate
from tests.contracts.test_placers import SPECS
from tests.reports.results.positions.traces import by_request, positions, questions, scenario
from tests.simulator.placers import AtTheEnd
from tests.simulator.prompts import trace_of
from workloads.synthetic import SyntheticSpec, generate

LENGTHS = (100, 230, 370)


def kinds(placer: str, **more: int) -> dict[str, int]:
    masks = positions(placer, questions(LENGTHS), **more).stored.kinds()
    return {name: int(which.sum()) for name, which in masks.items() if which.any()}


def test_a_branch_point_counts_from_the_second_way_on() -> None:
    trace = trace_of([(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (9,)])
    seen = forks_seen(trace)
    at_two = [int(seen[node]) for node in range(trace.tree.nodes) if trace.tree.stop[node] == 2]
    assert seen[0] == 3  # of the root, by the prompt that shares nothing
    assert sorted(n for n in seen.tolist() if n != NEVER) == [1, 2, 3]
    assert at_two == [1]  # where the second left the first


def test_an_answer_is_a_way_too() -> None:
    trace = trace_of([(1, 2), (1, 2, 3, 4)], answers=[(3,), (5,)])
    seen = forks_seen(trace)
    ending = {int(s): int(n) for s, n in zip(trace.tree.stop, seen, strict=True)}
    assert ending[3] == 1  # the first answer ends there, the second prompt goes on


def test_of_a_trace_without_requests_nothing_is_seen() -> None:
    trace = questions(())
    assert forks_seen(trace).tolist() == [NEVER, NEVER]


@pytest.mark.parametrize(
    ("placer", "expected"),
    [
        ("last", {"at_end": 3}),
        ("branch", {"at_end": 3, "at_branch": 1}),  # the second leaves the first at 4,000
        ("block:size=1000", {"elsewhere": 4}),  # the first could not know that others part there
        ("from_end:offsets=50", {"elsewhere": 3}),
        ("none", {}),
        ("dense", {}),
    ],
)
def test_kinds_by_hand(placer: str, expected: dict[str, int]) -> None:
    assert kinds(placer) == expected


def test_what_is_floored_is_still_at_its_point() -> None:
    assert kinds("branch", alignment=64) == {"at_end": 3, "at_branch": 1}
    assert kinds("last", alignment=64) == {"at_end": 3}


def test_the_warm_up_does_not_count() -> None:
    counted = positions("branch", questions(LENGTHS), warmup_share=0.34)
    assert len(counted.stored.requests) == 2
    assert counted.stored.position.tolist() == [4000, 4230, 4370]


def test_histograms_by_hand() -> None:
    counted = all_counts(positions("branch", questions(LENGTHS)).stored)
    start, end, branch = counted.values()
    assert {k: n for k, n in enumerate(start, start=1) if n} == {12: 1, 13: 3}  # 4,000; 4,100, ...
    assert {k - OCTAVES: n for k, n in enumerate(end) if n} == {-8: 1, 0: 3}  # 230 before it
    # The first of a document has nothing to diverge from: all of it lies behind the branch.
    assert {k - OCTAVES: n for k, n in enumerate(branch) if n} == {0: 1, 8: 1, 9: 1, 13: 1}


def test_octaves_hold_what_their_ends_say() -> None:
    values = np.array([-5000, -4, -3, -1, 0, 1, 2, 3, 4, 1023, 1024])
    for value, number in zip(values.tolist(), octave(values).tolist(), strict=True):
        least, greatest = ends(number)
        assert least <= value <= greatest
    assert octave(np.array([2**40, -(2**40)])).tolist() == [OCTAVES, -OCTAVES]


def test_labels_are_told_apart_where_there_are_several() -> None:
    trace = questions(LENGTHS, [0, 1, 0], ("chat", "task"))
    by_label = positions("last", trace).labels
    assert {label: stored.position.tolist() for label, stored in by_label.items()} == {
        "chat": [4100, 4370],
        "task": [4230],
    }
    assert positions("last", questions(LENGTHS, [0, 0, 0], ("chat",))).labels == {}
    many = questions(range(100, 800, 100), list(range(7)), tuple("abcdefg"))
    assert [*positions("last", many).labels] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("spec", SPECS)
def test_every_placer_has_positions_that_its_records_count(spec: str) -> None:
    trace = generate(SyntheticSpec(requests=300, seed=2))
    how = scenario(spec, capacity_bytes=1 << 30, alignment=64)
    result = simulate(trace, how)
    summary = positions_of(spec, trace, how, result, 0.0)
    written = int(result.columns["checkpoints_written"].sum())
    assert summary["states"] == written == len(result.positions)
    for point in ("from_start", "from_end", "from_branch"):
        assert sum(each["states"] for each in summary[point]) == written
    assert (
        summary["at_end"] + summary["at_branch"] + summary["in_answer"] + summary["elsewhere"]
        == written
    )
    assert summary["words"].startswith(f"`{spec}` ")
    assert (summary["nearest"] is None) == (written == 0)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    for request, stored in enumerate(by_request(result)):
        assert stored == sorted(set(stored))
        assert all(n % 64 == 0 for n in stored)
        assert not stored or stored[-1] <= trace.prompt_tokens[request]


def test_what_admission_refuses_is_not_there() -> None:
    trace = questions(LENGTHS)
    how = scenario("block:size=1000", capacity_bytes=4000 * 32768 + 2 * 51_511_296)
    result = simulate(trace, how)
    assert result.columns["checkpoints_written"].tolist() == [len(n) for n in by_request(result)]
    assert len(by_request(result)[0]) < 4


def test_a_cell_has_the_columns_that_are_told() -> None:
    trace = questions(LENGTHS, [0, 1, 0], ("chat", "task"))
    how = scenario("branch")
    cell = flat_positions("branch", trace, how, simulate(trace, how), 0.0)
    assert set(cell) == {*COUNTS, *WORDS, *BIN_COLUMNS}
    assert [len(cell[name]) for name in BIN_COLUMNS] == [24, 49, 49, 2, 48, 98, 98]
    assert sum(cell[name] for name in COUNTS) == 4
    assert json.loads(json.dumps(cell)) == cell


def test_states_of_an_answer_are_told_apart() -> None:
    """Two prompts of 3 tokens, whose answers end at 5 and 6, and a state at the end of each."""
    trace = trace_of([(1, 2, 3), (9, 8, 7)], answers=[(4, 5), (6, 5, 4)])
    how = replace(scenario("last"), placer=AtTheEnd)
    summary = positions_of("end", trace, how, simulate(trace, how), 0.0)
    assert (summary["states"], summary["in_answer"]) == (2, 2)
    assert summary["words"] == "`end` stores 1.00 states a request: all in the answer"
    assert summary["from_end"] == [{"least": 2, "greatest": 3, "states": 2}]


def test_the_branch_is_where_prompts_left_what_had_been_prefilled() -> None:
    """The second comes while the first runs, and shares 4,000 tokens with nothing that is done."""
    trace = questions(LENGTHS).with_arrivals(np.array([0.0, 1e-3, 1e3]))
    how = replace(scenario("last"), server="queue")
    result = simulate(trace, how)
    assert result.columns["overlap_tokens"].tolist() == [0, 4000, 4000]
    stored = Positions.of("last", trace, how, result, 0.0, None).stored
    assert stored.requests.branch.tolist() == [0, 4000, 4000]  # matched when the first had ended
    together = questions(LENGTHS).with_arrivals(np.array([0.0, 0.0, 1e3]))
    result = simulate(together, how)
    stored = Positions.of("last", together, how, result, 0.0, None).stored
    assert stored.requests.branch.tolist() == [0, 0, 4000]  # matched at one instant
