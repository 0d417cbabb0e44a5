"""A replica: the serving loop, independent of scheduler and executor."""

from __future__ import annotations

from collections.abc import Callable

from simulator.cache.interface import Cache
from simulator.cache.request import Match, Running
from simulator.results.records import FINISHED, REJECTED, UNFINISHED, Records
from simulator.serving.interfaces import Clock, Executor, SchedulerFactory
from simulator.serving.step import Chunk, Step, StepSeconds


class Replica:
    """A server that runs one step after another: schedule, execute, commit, release, record.

    Parameters
    ----------
    cache
        Its prefix cache.
    schedule
        Factory of its scheduler.
    executor
        Executes the steps, or estimates their durations.
    clock
        Simulated time.
    records
        Table to which the results of requests are written.
    number
        Index among the replicas.
    on_finished
        Called with each finished request; None to call nothing.
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
        """Accept a request; call `wake` after all requests of the same instant."""
        self.unfinished += 1
        self._scheduler.arrive(request, arrival_seconds)

    def wake(self) -> None:
        """Start a step if none is running."""
        if self._step is None:
            self._run()

    def stop(self) -> None:
        """Record the requests that have not finished at the end of the simulation."""
        step = self._step
        if step is not None:
            for chunk in step.chunks:
                self._record_unserved(chunk.running.request, UNFINISHED)
        for request in self._scheduler.waiting():
            self._record_unserved(request, UNFINISHED)

    def _run(self) -> None:
        """Start steps until one takes simulated time or there is nothing to run."""
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
        """End the running step and start the next."""
        step, self._step = self._step, None
        if step is not None:
            self._end(step)
        self._run()

    def _note_times(self, chunk: Chunk, seconds: StepSeconds, now: float) -> None:
        """Add a request's waiting time since its last step, and the duration of the current one."""
        running = chunk.running
        if chunk.start == running.match.resume:
            running.arrival_seconds = self._rows.arrival_seconds[running.request]
        if not self.timeless:
            # Sums of delays are rounded, so `now` may precede the arrival by an ulp.
            waited = now - _now_of(running)
            if waited > 0.0:
                running.wait_seconds += waited
        restore, prefill, capture = seconds
        running.restore_seconds += restore
        running.prefill_seconds += prefill
        running.capture_seconds += capture

    def _end(self, step: Step) -> None:
        """Commit the chunks of a step; release and record the requests that have finished."""
        for chunk in step.chunks:
            running, stop = chunk.running, chunk.stop
            self.cache.commit(running, stop, _now_of(running))
            if stop >= running.end:
                self.cache.release(running)
                self._record(running)

    def _record(self, running: Running) -> None:
        """Record a finished request."""
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
        """Record, by cause, the tokens of a prompt that were not saved."""
        rows = self._rows
        rows.lost_never_seen_tokens[row] = matched.never_seen
        # The rows are initialised with 0, and most other losses are 0.
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
        """Record a rejected request."""
        self.unfinished -= 1
        self._record_unserved(request, REJECTED)

    def _record_unserved(self, request: int, status: int) -> None:
        """Record a request that was rejected or has not finished, with all its tokens as lost."""
        rows = self._rows
        rows.status[request] = status
        rows.lost_not_served_tokens[request] = rows.prompt_tokens[request]
        self._record_usage(request)

    def _record_usage(self, row: int) -> None:
        """Record a request's replica and the bytes in the cache after it."""
        rows = self._rows
        if self.number:
            rows.replica[row] = self.number
        checkpoints, checkpoint_bytes, kv_bytes = self.cache.usage()
        rows.checkpoints_resident[row] = checkpoints
        rows.checkpoint_bytes[row] = checkpoint_bytes
        rows.kv_bytes[row] = kv_bytes


def _now_of(running: Running) -> float:
    """Return the end of a request's last step: its arrival plus all its recorded times."""
    return (
        running.arrival_seconds
        + running.wait_seconds
        + (running.restore_seconds + running.prefill_seconds + running.capture_seconds)
    )
