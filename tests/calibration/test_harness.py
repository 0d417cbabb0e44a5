from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.calibration.tiny import torch  # first: it skips where torch is absent

# isort: split
from calibration.estimate import TimeEstimate
from calibration.harness import measure_all
from calibration.journal import MeasurementJournal
from calibration.measure.graphs import NotCapturableError
from calibration.models.configs import TOY
from calibration.paced_run import BudgetError, MeasuringProgress, out_of_memory
from calibration.plan import Item, PlanBlock

ITEMS = tuple(Item("prefill", c, (n,)) for c in (0, 1024) for n in (64, 512))
ESTIMATE = TimeEstimate(TOY, "cpu", 0)


class FakeBench:
    """Takes the expected time of every item, and fails where it is told to."""

    def __init__(
        self,
        *,
        kill_after: int = -1,
        fails: dict[str, RuntimeError] | None = None,
        slower: float = 1.0,
    ) -> None:
        self.calls: list[str] = []
        self.released = 0
        self.clock = 0.0
        self._kill_after = kill_after
        self._fails = fails or {}
        self._slower = slower

    def seconds(self, item: Item) -> float:
        if len(self.calls) == self._kill_after:
            raise KeyboardInterrupt
        self.clock += self._slower * ESTIMATE.once_seconds(item)
        if item.name in self._fails:
            raise self._fails[item.name]
        self.calls.append(item.name)
        return 1e-3 * item.n + 1e-6 * len(self.calls)

    def release(self) -> None:
        self.released += 1


def blocks(repetitions: int = 4) -> list[PlanBlock]:
    return [
        PlanBlock("prefill", ITEMS, repetitions, core=2),
        PlanBlock("cuts", (Item("cut", 0, (64, 64)),), repetitions),
    ]


def measured(path: Path, bench: FakeBench, budget: float | None = None) -> MeasurementJournal:
    journal = MeasurementJournal(path, {})
    try:
        measure_all(
            blocks(), bench, journal, ESTIMATE, budget_seconds=budget, now=lambda: bench.clock
        )
    finally:
        journal.close()
    return journal


def test_every_repetition_is_measured_once_in_shuffled_order(tmp_path: Path) -> None:
    bench = FakeBench()
    journal = measured(tmp_path / "journal", bench)
    assert sorted(bench.calls) == sorted([item.name for b in blocks() for item in b.items] * 4)
    assert bench.calls[:16] != sorted(bench.calls[:16])
    assert {len(times) for times in journal.seconds.values()} == {4}
    assert bench.released == 3  # after each block, and at the end


@pytest.mark.parametrize("kill_after", [0, 1, 7, 16, 19])
def test_a_killed_run_goes_on_and_measures_nothing_twice(tmp_path: Path, kill_after: int) -> None:
    killed, resumed = FakeBench(kill_after=kill_after), FakeBench()
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "journal", killed)
    journal = measured(tmp_path / "journal", resumed)
    assert len(killed.calls) == kill_after
    assert len(killed.calls) + len(resumed.calls) == 20
    assert {len(times) for times in journal.seconds.values()} == {4}
    again = FakeBench()
    measured(tmp_path / "journal", again)
    assert again.calls == []


def test_the_order_is_that_of_the_seed(tmp_path: Path) -> None:
    one, same = FakeBench(), FakeBench()
    measured(tmp_path / "one", one)
    measured(tmp_path / "same", same)
    assert one.calls == same.calls


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), "out of memory"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes"),
            "out of memory",
        ),
        (NotCapturableError("no CUDA graph"), "no CUDA graph"),
    ],
)
def test_a_point_that_cannot_be_measured_is_skipped_and_named(
    tmp_path: Path, error: RuntimeError, reason: str
) -> None:
    bench = FakeBench(fails={ITEMS[3].name: error})
    journal = measured(tmp_path / "journal", bench)
    assert journal.skipped == {ITEMS[3].name: reason}
    assert ITEMS[3].name not in journal.seconds
    assert len(bench.calls) == 16


def test_other_errors_are_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="shapes differ"):
        measured(
            tmp_path / "journal", FakeBench(fails={ITEMS[0].name: RuntimeError("shapes differ")})
        )
    assert not out_of_memory(RuntimeError("shapes differ"))


@pytest.mark.parametrize(
    "message",
    [
        "CUDA error: out of memory\nCUDA kernel errors might be reported elsewhere",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ],
)
def test_memory_that_a_library_lacks_is_memory_too(message: str) -> None:
    assert out_of_memory(RuntimeError(message))


def test_a_budget_too_short_for_the_core_says_what_is_missing(tmp_path: Path) -> None:
    bench = FakeBench()
    core = sum(map(ESTIMATE.once_seconds, ITEMS[:2]))
    with pytest.raises(BudgetError) as raised:
        measured(tmp_path / "journal", bench, 1e-6)
    assert len(bench.calls) == 1
    assert core * 0.1 < raised.value.missing_seconds < core
    assert sorted(set(measured(tmp_path / "journal", FakeBench(), 1.5 * core).seconds)) == sorted(
        item.name for item in ITEMS[:2]
    )


def test_a_budget_that_is_short_gets_fewer_points_and_says_so(tmp_path: Path) -> None:
    bench = FakeBench()
    budget = 4.5 * sum(map(ESTIMATE.once_seconds, ITEMS[:3]))
    journal = MeasurementJournal(tmp_path / "journal", {})
    notes = measure_all(
        blocks(), bench, journal, ESTIMATE, budget_seconds=budget, now=lambda: bench.clock
    )
    journal.close()
    assert set(journal.seconds) == {item.name for item in (*ITEMS[:3], *blocks()[1].items)}
    assert journal.spent_seconds <= budget
    assert notes[0] == "no time for 1 of 4 points of 'prefill'"


@pytest.mark.parametrize("slower", [0.3, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("share", [0.4, 0.7, 1.5, 4.0])
def test_a_budget_is_kept_however_slow_the_machine(
    tmp_path: Path, slower: float, share: float
) -> None:
    bench = FakeBench(slower=slower)
    budget = share * sum(map(ESTIMATE.block_seconds, blocks(1)))
    with contextlib.suppress(BudgetError):
        measured(tmp_path / "journal", bench, budget)
    longest = max(map(ESTIMATE.once_seconds, ITEMS))
    assert bench.clock <= budget + slower * longest


def test_the_time_left_is_corrected_as_it_goes(tmp_path: Path) -> None:
    progress: list[tuple[float, float]] = []  # what is said to be left, what is spent

    class Heard(MeasuringProgress):
        def say(
            self, block: str, needed_seconds: Callable[[], float], spent_seconds: float, _: object
        ) -> None:
            progress.append((needed_seconds(), spent_seconds))

    bench = FakeBench(slower=5.0)
    journal = MeasurementJournal(tmp_path / "journal", {})
    measure_all(blocks(), bench, journal, ESTIMATE, progress=Heard(), now=lambda: bench.clock)
    journal.close()
    end = progress[-1][1]
    for left, spent in progress:
        assert left == pytest.approx(end - spent, rel=0.01, abs=1e-6)


@pytest.mark.parametrize(("slower", "repetitions"), [(1.0, 3), (0.5, 6), (0.1, 12)])
def test_a_machine_that_is_faster_than_thought_repeats_the_essential_more_often(
    tmp_path: Path, slower: float, repetitions: int
) -> None:
    budget = 1.6 * 3 * ESTIMATE.block_seconds(blocks(1)[0])  # of three repetitions, as thought

    def run(bench: FakeBench) -> MeasurementJournal:
        journal = MeasurementJournal(tmp_path / "journal", {})
        try:
            measure_all(
                blocks(12), bench, journal, ESTIMATE, budget_seconds=budget, now=lambda: bench.clock
            )
        finally:
            journal.close()
        return journal

    with pytest.raises(KeyboardInterrupt):
        run(FakeBench(slower=slower, kill_after=10))
    journal = run(FakeBench(slower=slower))  # which knows from the journal how fast it is
    assert {len(journal.seconds[item.name]) for item in ITEMS} == {repetitions}
    assert journal.spent_seconds <= budget


def test_what_earlier_runs_spent_counts_towards_the_budget(tmp_path: Path) -> None:
    budget = 1.2 * sum(map(ESTIMATE.block_seconds, blocks()))
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "journal", FakeBench(kill_after=10), budget)
    journal = MeasurementJournal(tmp_path / "journal", {})
    spent = journal.spent_seconds
    assert 0 < spent < budget
    journal.close()
    assert measured(tmp_path / "journal", FakeBench(), budget).spent_seconds <= 1.01 * budget
