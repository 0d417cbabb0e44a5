"""The loop of a replica, with steps that are written out. A token is one byte."""

from __future__ import annotations

from simulator.results.records import FINISHED, REJECTED, UNFINISHED, Records
from simulator.serving.heap_clock import HeapClock
from simulator.serving.replica import Replica
from simulator.serving.step import Chunk, Step
from tests.simulator.caches import cache_of
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of

PROMPTS = [(1, 2, 3, 4), (1, 2, 5, 6, 7)]


class Written:
    """A scheduler that takes each step from a list: of which requests, up to which token."""

    timeless = False

    def __init__(self, *steps):
        self._steps = list(steps)
        self._waiting, self._running = [], {}
        self.asked_at = []

    def of(self, cache, reject):
        self._cache, self._reject = cache, reject
        return self

    def turn_away(self, request):
        self._waiting.remove(request)
        self._reject(request)

    def arrive(self, request, now_seconds):
        self._waiting.append(request)

    def next_step(self, now_seconds):
        self.asked_at.append(now_seconds)
        if not self._steps:
            return None
        chunks = []
        for request, stop in self._steps.pop(0):
            if request in self._waiting:
                self._waiting.remove(request)
                self._running[request] = self._cache.admit(request, now_seconds)
            running = self._running[request]
            self._cache.plan(running, stop)
            chunks.append(Chunk(running, running.computed, stop))
        return Step(chunks)

    def waiting(self):
        begun = [one.request for one in self._running.values() if one.computed < one.end]
        return [*self._waiting, *begun]


class Fixed:
    """An executor: two seconds a chunk, one a restore, half of one a capture."""

    def seconds(self, step):
        count = len(step.chunks)
        captures = sum(len(chunk.running.captures) for chunk in step.chunks)
        restores = sum(0 < chunk.start == chunk.running.match.resume for chunk in step.chunks)
        return float(restores), 2.0 * count, 0.5 * captures


class Run:
    """A replica that is taken through `PROMPTS`, both of which have come at time 0."""

    def __init__(self, *steps, timeless=False):
        self.clock, self.finished = HeapClock(), []
        self.scheduler = Written(*steps)
        self.scheduler.timeless = timeless
        trace = trace_of(PROMPTS, [0.0, 0.0])
        self.cache, self.records = cache_of(trace, Wanted(2, 4)), Records.of(trace)
        self.replica = Replica(
            self.cache, self.scheduler.of, Fixed(), self.clock, self.records, 3, self._note
        )
        for request in range(2):
            self.replica.arrive(request, 0.0)
        self.replica.wake()

    def _note(self, running):
        self.cache.check()
        self.finished.append((running.request, self.clock.now))

    def row(self, *names):
        """Return columns as they stand, when time is over."""
        self.replica.stop()
        return [getattr(self.records.rows, name).tolist() for name in names]


def to_the_end(run):
    while run.clock.advance():
        pass
    return run


WHOLE = [[(0, 4)], [(1, 5)]]


def test_one_step_follows_the_other_until_there_is_none():
    run = to_the_end(Run(*WHOLE))
    assert run.finished == [(0, 3.0), (1, 6.5)]  # 2 and 2 x 0.5; 1, 2 and 0.5
    assert run.scheduler.asked_at == [0.0, 3.0, 6.5]
    assert run.row("status", "replica") == [[FINISHED] * 2, [3] * 2]
    assert run.row("wait_seconds", "restore_seconds") == [[0.0, 3.0], [0.0, 1.0]]
    assert run.row("prefill_seconds", "capture_seconds") == [[2.0, 2.0], [1.0, 0.5]]


def test_what_is_computed_is_visible_when_the_step_ends():
    run = Run(*WHOLE)
    assert run.cache.usage() == (0, 0, 0)
    run.clock.advance()
    assert run.cache.usage() == (2, 20, 4)


def test_it_wakes_only_where_no_step_runs():
    run = Run(*WHOLE)
    run.replica.wake()
    assert run.scheduler.asked_at == [0.0]


def test_the_requests_of_a_step_spend_all_of_it():
    run = to_the_end(Run([(0, 2), (1, 3)], [(0, 4), (1, 5)]))
    # The states at 2 are captured twice, in 1 s, and stored once; then those at 4.
    assert run.finished == [(0, 10.0), (1, 10.0)]
    assert run.row("prefill_seconds", "capture_seconds") == [[8.0] * 2, [2.0] * 2]
    assert run.row("wait_seconds", "checkpoints_written") == [[0.0] * 2, [2, 1]]


def test_what_a_request_waits_between_its_steps_counts():
    run = to_the_end(Run([(0, 2)], [(1, 5)], [(0, 4)]))
    assert run.finished == [(1, 6.0), (0, 8.5)]
    assert run.row("wait_seconds") == [[3.5, 2.5]]
    assert run.row("saved_tokens") == [[0, 2]]  # from a state of one that has not ended


def test_it_knows_how_many_are_unfinished():
    run = Run([(0, 4)])
    assert run.replica.unfinished == 2
    run.clock.advance()
    assert run.replica.unfinished == 1
    run.scheduler.turn_away(1)
    assert run.replica.unfinished == 0
    assert run.row("status", "lost_not_served_tokens") == [[FINISHED, REJECTED], [0, 5]]


def test_at_the_end_of_time_what_runs_and_what_waits_is_unfinished():
    run = Run(*WHOLE)
    assert run.row("status", "lost_not_served_tokens") == [[UNFINISHED] * 2, [4, 5]]


def test_one_that_has_begun_and_is_in_no_step_is_unfinished():
    run = Run([(0, 2)], [(1, 3)])
    run.clock.advance()  # the second runs now
    assert run.row("status", "saved_tokens") == [[UNFINISHED] * 2, [0, 0]]


def test_timeless_steps_take_no_time_on_the_clock():
    run = Run(*WHOLE, timeless=True)
    assert run.finished == [(0, 0.0), (1, 0.0)]
    assert run.row("wait_seconds", "prefill_seconds") == [[0.0] * 2, [2.0] * 2]
