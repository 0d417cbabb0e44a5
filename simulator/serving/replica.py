"""One replica: the loop that every scheduler and every executor runs in."""

from __future__ import annotations

from collections.abc import Callable

from simulator.cache.interface import Cache
from simulator.cache.request import Match, Running
from simulator.results.records import FINISHED, REJECTED, UNFINISHED, Records
from simulator.serving.interfaces import Clock, Executor, SchedulerFactory
from simulator.serving.step import Chunk, Step, StepSeconds


class Replica:
    """Runs one step after another: schedule, execute, commit, release, record.

    Parameters
    ----------
    cache
        The cache.
    schedule
        Makes the scheduler.
    executor
        Does the work of a step, or prices it.
    clock
        The time.
    records
        Where the requests are recorded.
    number
        Its place among the replicas.
    on_finished
        Called with each request that has finished, if anything is to be.
    """

    def __init__(
        self,
        cache: Cache,
        schedule: SchedulerFactory,
        executor: Executor,
        clock: Clock,
        records: Records,
        number: int = 0,
        on_finished: Callable[[Running], None] | None = None,
    ) -> None:
        self.number = number
        self.unfinished = 0
        self.cache = cache
        self._scheduler = schedule(cache, self._reject)
        self.timeless = self._scheduler.timeless
        self._executor = executor
        self._clock = clock
        self._records, self._rows = records, records.rows
        self._on_finished = on_finished
        self._step: Step | None = None

    def arrive(self, request: int, arrival_seconds: float) -> None:
        """Take a request; `wake` when all of this instant have been taken."""
        self.unfinished += 1
        self._scheduler.arrive(request, arrival_seconds)

    def wake(self) -> None:
        """Start a step, if none runs."""
        if self._step is None:
            self._run()

    def stop(self) -> None:
        """Record the requests that have arrived and not finished."""
        step = self._step
        if step is not None:
            for chunk in step.chunks:
                self._record_unserved(chunk.running.request, UNFINISHED)
        for request in self._scheduler.waiting():
            self._record_unserved(request, UNFINISHED)

    def _run(self) -> None:
        """Start steps until one takes time, or nothing is left to do."""
        clock, next_step, timeless = self._clock, self._scheduler.next_step, self.timeless
        now = clock.now
        while (step := next_step(now)) is not None:
            seconds = self._executor.seconds(step)
            for chunk in step.chunks:
                self._note_times(chunk, seconds, now)
            if not timeless:
                self._step = step
                clock.after(sum(seconds), self._end_step)
                return
            self._end(step)

    def _end_step(self, _: object) -> None:
        step, self._step = self._step, None
        if step is not None:
            self._end(step)
        self._run()

    def _note_times(self, chunk: Chunk, seconds: StepSeconds, now: float) -> None:
        """Note what a request has waited since its last step, and what this one takes."""
        running = chunk.running
        if chunk.start == running.match.resume:
            running.arrival_seconds = self._rows.arrival_seconds[running.request]
        if not self.timeless:
            # The clock adds up delays, so it may stand an ulp before the arrival itself.
            waited = now - _now_of(running)
            if waited > 0.0:
                running.wait_seconds += waited
        restore, prefill, capture = seconds
        running.restore_seconds += restore
        running.prefill_seconds += prefill
        running.capture_seconds += capture

    def _end(self, step: Step) -> None:
        for chunk in step.chunks:
            running, stop = chunk.running, chunk.stop
            self.cache.commit(running, stop, _now_of(running))
            if stop >= running.end:
                self.cache.release(running)
                self._record(running)

    def _record(self, running: Running) -> None:
        matched, written, row, rows = running.match, running.written, running.request, self._rows
        self.unfinished -= 1
        rows.status[row] = FINISHED
        rows.saved_tokens[row] = matched.resume
        rows.overlap_tokens[row] = matched.overlap
        rows.kv_tokens[row] = matched.kv_depth
        self._record_losses(matched, row)
        self._record_usage(row)
        rows.wait_seconds[row] = running.wait_seconds
        rows.restore_seconds[row] = running.restore_seconds
        rows.prefill_seconds[row] = running.prefill_seconds
        rows.capture_seconds[row] = running.capture_seconds
        if written:
            rows.checkpoints_written[row] = len(written)
            self._records.add_positions(row, [state.position for state in written])
        if self._on_finished is not None:
            self._on_finished(running)

    def _record_losses(self, matched: Match, row: int) -> None:
        rows = self._rows
        rows.lost_never_seen_tokens[row] = matched.never_seen
        # Most of the others are 0, as they stand there already.
        if matched.last_token:
            rows.lost_last_token_tokens[row] = matched.last_token
        if matched.in_flight:
            rows.lost_in_flight_tokens[row] = matched.in_flight
        if matched.not_admitted:
            rows.lost_not_admitted_tokens[row] = matched.not_admitted
        if matched.kv_evicted:
            rows.lost_kv_evicted_tokens[row] = matched.kv_evicted
        if matched.not_checkpointed:
            rows.lost_not_checkpointed_tokens[row] = matched.not_checkpointed
        if matched.alignment:
            rows.lost_alignment_tokens[row] = matched.alignment
        if matched.state_evicted:
            rows.lost_state_evicted_tokens[row] = matched.state_evicted

    def _reject(self, request: int) -> None:
        self.unfinished -= 1
        self._record_unserved(request, REJECTED)

    def _record_unserved(self, request: int, status: int) -> None:
        """Record a request that was rejected or has not finished: all its tokens are lost."""
        rows = self._rows
        rows.status[request] = status
        rows.lost_not_served_tokens[request] = rows.prompt_tokens[request]
        self._record_usage(request)

    def _record_usage(self, row: int) -> None:
        rows = self._rows
        if self.number:
            rows.replica[row] = self.number
        checkpoints, checkpoint_bytes, kv_bytes = self.cache.usage()
        rows.checkpoints_resident[row] = checkpoints
        rows.checkpoint_bytes[row] = checkpoint_bytes
        rows.kv_bytes[row] = kv_bytes


def _now_of(running: Running) -> float:
    """Return when the last step of a request ends, as its own times add up."""
    return (
        running.arrival_seconds
        + running.wait_seconds
        + (running.restore_seconds + running.prefill_seconds + running.capture_seconds)
    )
