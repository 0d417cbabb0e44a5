"""The event loop, worked by hand. One token of prefill takes one second."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from policies.admission import ADMISSION
from policies.eviction import EVICTION
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.results.records import FINISHED, LOSSES, REJECTED, UNFINISHED
from simulator.simulation import Scenario, simulate
from tests.simulator.placers import AtBranches, AtTheEnd, Everywhere, Wanted
from tests.simulator.prompts import toy_profile, trace_of
from tests.simulator.replays import replay
from tests.simulator.test_chunked_commit import Chunked

DOCUMENT = (1, 2, 3, 4)


def run(prompts, arrivals, placer=None, **scenario):
    return replay(prompts, arrivals, lambda: placer or Wanted(4), **scenario)


def lost(result, loss):
    return result.columns[f"lost_{loss}_tokens"].tolist()


def test_time_to_first_token_is_wait_and_prefill_of_what_is_not_saved():
    result = run([(*DOCUMENT, 5, 6), (*DOCUMENT, 7)], [0.0, 2.0])
    assert result.columns["saved_tokens"].tolist() == [0, 4]
    assert result.columns["wait_seconds"].tolist() == pytest.approx([0.0, 4.0])
    assert result.columns["prefill_seconds"].tolist() == pytest.approx([6.0, 1.0])
    assert result.columns["ttft_seconds"].tolist() == pytest.approx([6.0, 5.0])
    assert result.simulated_seconds == pytest.approx(7.0)


@pytest.mark.parametrize(("eviction", "saved"), [("value", 5), ("seglen", 5), ("lru", 0)])
def test_kv_behind_the_last_state_goes_alone_where_the_policy_tells_it_apart(eviction, saved):
    prompts = [(1, 2, 3, 4, 5, 6, 7), (11, 12, 13, 14), (21, 22, 23, 24), (1, 2, 3, 4, 5, 8)]
    # 7 bytes of KV and 10 of a state, then twice 4 of KV
    policy = EVICTION[eviction]
    result = run(prompts, None, Wanted(5), eviction=policy, capacity_bytes=21, server="instant")
    assert result.columns["saved_tokens"][-1] == saved


def test_restore_and_capture_count():
    profile = toy_profile(state_bytes=2**20)
    data = {"latency_us": 5e5, "gbps": 1e12}
    from dataclasses import replace

    from simulator.costs.schema import CheckpointCost, Io, Link

    profile = replace(
        profile,
        io=Io(d2d=Link(**data)),
        checkpoint=CheckpointCost(cut_overhead=3e6, snapshot_us_per_mib=1e6),
    )
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 100.0], profile=profile)
    assert result.columns["capture_seconds"].tolist() == pytest.approx([4.0, 0.0])
    assert result.columns["restore_seconds"].tolist() == pytest.approx([0.0, 0.5])
    assert result.columns["ttft_seconds"].tolist() == pytest.approx([9.0, 1.5])


def test_two_simultaneous_first_requests_for_one_document_both_miss():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6), (*DOCUMENT, 7)], [0.0, 0.0, 1.0])
    assert result.columns["saved_tokens"].tolist() == [0, 0, 4]
    assert lost(result, "in_flight") == [0, 4, 0]
    assert result.columns["wait_seconds"].tolist() == pytest.approx([0.0, 5.0, 9.0])


def test_the_instant_server_serves_simultaneous_requests_in_order():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 0.0], server="instant")
    assert result.columns["saved_tokens"].tolist() == [0, 4]
    assert result.columns["wait_seconds"].tolist() == [0.0, 0.0]


def test_a_whole_repeat_recomputes_its_last_token():
    result = run([DOCUMENT, DOCUMENT], [0.0, 9.0], Everywhere())
    assert result.columns["saved_tokens"].tolist() == [0, 3]
    assert lost(result, "last_token") == [0, 1]


def test_a_state_at_the_end_of_a_prompt_does_not_serve_its_repeat():
    result = run([DOCUMENT, DOCUMENT, (*DOCUMENT, 5)], [0.0, 9.0, 18.0], Wanted(end=True))
    assert result.columns["saved_tokens"].tolist() == [0, 0, 4]
    assert lost(result, "not_checkpointed") == [0, 3, 0]
    assert result.columns["checkpoints_written"].tolist() == [1, 0, 1]


def test_losses_tell_alignment_from_placement():
    prompts = [(*DOCUMENT, 5, 6, 7), (*DOCUMENT, 5, 6, 8)]
    result = run(prompts, [0.0, 9.0], Wanted(5), profile=toy_profile(alignment=4))
    assert result.columns["saved_tokens"].tolist() == [0, 4]
    assert lost(result, "alignment") == [0, 1]  # 5 was wanted, 4 stored
    assert lost(result, "not_checkpointed") == [0, 1]  # and nobody wanted 6
    assert lost(result, "never_seen") == [7, 1]


def test_losses_tell_evicted_kv_from_evicted_states():
    # 5 tokens and a state of 10 fill the cache. The other prompt needs 14 bytes: the last token
    # goes first, then those above it; the state of 10 goes with the token that it stands on.
    result = run([(*DOCUMENT, 5), (9,) * 4, (*DOCUMENT, 6)], [0, 9, 18], capacity_bytes=15)
    assert lost(result, "kv_evicted") == [0, 0, 3]
    assert lost(result, "not_checkpointed") == [0, 0, 1]
    # 6 tokens and 2 states, one of which the second request has used. The third needs 13 bytes
    # where 1 is free: token 5 goes, then the unused state, whose KV stays, then token 6.
    prompts = [(*DOCUMENT, 5), (*DOCUMENT, 6), (8, 8, 8), (1, 2, 9)]
    result = run(prompts, [0, 9, 18, 27], Wanted(2, 4), capacity_bytes=27)
    assert lost(result, "state_evicted") == [0, 0, 0, 2]
    assert result.columns["kv_tokens"].tolist() == [0, 4, 0, 2]


def test_a_prompt_larger_than_the_cache_leaves_a_prefix():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 9.0], Wanted(2, 5), capacity_bytes=13)
    assert result.columns["kv_tokens"].tolist() == [0, 3]
    assert result.columns["saved_tokens"].tolist() == [0, 2]
    assert lost(result, "not_admitted") == [0, 1]


def test_without_capacity_nothing_is_admitted():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 9.0], capacity_bytes=0)
    assert lost(result, "not_admitted") == [0, 4]
    assert result.counters.peak_bytes == 0


def test_branch_points_are_known_once_a_second_prompt_has_diverged():
    prompts = [(*DOCUMENT, 5), (*DOCUMENT, 6), (*DOCUMENT, 7), (1, 2, 8), (1, 2, 9)]
    result = run(prompts, [0, 9, 18, 27, 36], AtBranches())
    # The second request shows the branch and writes it; the third is the first to use it.
    assert result.columns["checkpoints_written"].tolist() == [0, 1, 0, 1, 0]
    assert result.columns["saved_tokens"].tolist() == [0, 0, 4, 0, 2]


def test_a_prefill_that_resumes_writes_only_behind_its_resume_point():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 9.0], Wanted(2, 4, 5))
    assert result.columns["checkpoints_written"].tolist() == [3, 1]


def test_placers_learn_from_requests_that_have_been_served():
    placer = Wanted()
    run([(*DOCUMENT, 5), (*DOCUMENT, 6), (*DOCUMENT, 6, 7)], [0.0, 0.0, 99.0], placer)
    seen = [(overlap.depth, overlap.prompt_tokens) for overlap in placer.overlaps]
    assert seen == [(0, 5), (0, 5), (5, 6)]


def test_a_known_answer_is_stored_and_serves_the_next_turn():
    turns = [(1, 2, 3), (1, 2, 3, 4, 5, 6)]
    result = run(turns, [0.0, 9.0], AtTheEnd(), answers=[(4, 5), (7,)])
    assert result.columns["saved_tokens"].tolist() == [0, 5]
    assert result.columns["kv_bytes"].tolist() == [5, 7]
    # The answer costs no time before the first token, and an unknown one leaves nothing.
    assert result.columns["ttft_seconds"].tolist() == pytest.approx([3.0, 1.0])
    unknown = run(turns, [0.0, 9.0], AtTheEnd())
    assert unknown.columns["saved_tokens"].tolist() == [0, 3]


def test_policies_are_told_of_a_request_before_its_entries():
    events = []

    class Told(EVICTION["lru"]):
        observes = True

        def observe(self, overlap):
            events.append((overlap.request, overlap.now_seconds, overlap.depth))

        def on_insert(self, entry):
            events.append(type(entry).__name__)
            super().on_insert(entry)

        def on_split(self, upper, lower):
            events.append(((upper.start, upper.stop), (lower.start, lower.stop)))
            self._order[upper] = None

    run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 9.0], eviction=Told, capacity_bytes=99)
    first = [(0, 5.0, 0), "KvSpan", "Checkpoint"]
    assert events == [*first, ((0, 4), (4, 5)), (1, 10.0, 4), "KvSpan"]


def test_a_policy_that_is_told_of_a_first_chunk_is_told_where_the_prompt_ends():
    ends = []

    class Told(EVICTION["lru"]):
        observes = True

        def observe(self, overlap):
            ends.append((overlap.span.stop, overlap.end.stop, overlap.now_seconds))

    prompts, answers = [(1, 2, 3, 4, 5), (1, 2, 6)], [(7, 8), (9,)]
    known = {"answers": answers, "eviction": Told, "capacity_bytes": 99}
    run(prompts, [0.0, 9.0], server=Chunked, **known)
    assert ends == [(5, 5, 2.0), (3, 3, 11.0)]  # nobody knows yet how long the answers will be
    ends.clear()
    run(prompts, [0.0, 9.0], **known)
    assert ends == [(5, 7, 5.0), (3, 4, 12.0)]


def test_rejected_and_unfinished_requests_stay_in_the_denominator():
    prompts = [(1,) * 5, (2,) * 5, (3,) * 5, (4,) * 5]
    result = run(prompts, [0.0, 1.0, 2.0, 6.0], queue_limit=1, horizon_seconds=8.0)
    assert result.columns["status"].tolist() == [FINISHED, UNFINISHED, REJECTED, UNFINISHED]
    summary = result.summary()
    assert summary["requests"] == {"total": 4, "finished": 1, "rejected": 1, "unfinished": 2}
    assert summary["prompt_tokens"] == 20
    assert summary["recomputed_tokens"] == 5
    assert lost(result, "not_served") == [0, 5, 5, 5]
    assert result.simulated_seconds == 8.0


def test_the_parts_of_a_loss_sum_to_the_whole_in_every_record():
    rng = np.random.default_rng(7)
    prompts = [tuple(rng.integers(0, 2, rng.integers(1, 12)).tolist()) for _ in range(60)]
    arrivals = np.sort(rng.integers(0, 6, 60)).astype(float).tolist()
    result = run(prompts, arrivals, Wanted(2, 5, end=True), capacity_bytes=70, alignment=2)
    parts = sum(result.columns[f"lost_{loss}_tokens"] for loss in LOSSES)
    assert (parts + result.columns["saved_tokens"] == result.columns["prompt_tokens"]).all()
    assert (result.columns["lost_in_flight_tokens"] > 0).any()


def test_the_same_inputs_give_the_same_bits():
    prompts = [(*DOCUMENT, 5), (*DOCUMENT, 6), (7, 8), (*DOCUMENT, 5, 6)]
    one, two = (run(prompts, [0.1, 0.2, 0.2, 7.7], capacity_bytes=17) for _ in range(2))
    for name, column in one.columns.items():
        assert column.tobytes() == two.columns[name].tobytes()


def test_a_scenario_can_be_run_any_number_of_times():
    trace = trace_of([(*DOCUMENT, question) for question in range(5, 12)])
    scenario = Scenario(
        toy_profile(),
        placer=partial(create, "placer", "adaptive"),
        eviction=EVICTION["two_q"],
        admission=ADMISSION["second_sighting"],
        capacity_bytes=40,
        server="instant",
    )
    one, two = (simulate(trace, scenario).columns for _ in range(2))
    assert all((column == two[name]).all() for name, column in one.items())
    assert one["saved_tokens"].any()


def test_an_unbounded_cache_reports_what_it_would_have_needed():
    result = run([(*DOCUMENT, 5), (*DOCUMENT, 6)], [0.0, 9.0])
    assert result.counters.kv_peak_bytes == 6
    assert result.counters.checkpoint_peak_count == 1
    assert result.counters.peak_bytes == 16


def test_one_that_an_idle_server_takes_does_not_wait():
    result = run([(1,), (2, 2), (3,), (4,)], [0.0, 3.0, 3.0, 4.0], queue_limit=0)
    assert result.columns["status"].tolist() == [FINISHED, FINISHED, REJECTED, REJECTED]


def test_a_prefill_that_ends_makes_room_in_the_queue_for_those_that_arrive_then():
    prompts = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
    result = run(prompts, [0.0, 1.0, 1.0, 4.0, 4.0], queue_limit=2)
    assert result.columns["status"].tolist() == [FINISHED] * 5
    assert result.columns["wait_seconds"].tolist() == pytest.approx([0, 1, 3, 2, 4])


def test_no_room_is_made_for_a_state_that_is_there():
    prompts = [DOCUMENT, (9, 9, 9), (9, 9, 9), (*DOCUMENT, 5)]
    result = run(prompts, [0, 9, 18, 27], Wanted(end=True), capacity_bytes=27)
    assert result.columns["saved_tokens"].tolist() == [0, 0, 0, 4]
    simultaneous = run(prompts, [0, 9, 9, 27], Wanted(end=True), capacity_bytes=27)
    assert simultaneous.columns["saved_tokens"].tolist() == [0, 0, 0, 4]


def test_nothing_makes_room_for_a_state_that_can_never_fit():
    result = run([DOCUMENT, (9, 9), (8, 8, 8)], [0, 9, 18], Wanted(end=True), capacity_bytes=8)
    assert result.columns["kv_bytes"].tolist() == [4, 6, 8]
    assert result.columns["checkpoints_written"].tolist() == [0, 0, 0]


def test_admission_is_asked_once_about_a_run_however_many_states_are_wanted_in_it():
    asked = []

    class Asked(ADMISSION["always"]):
        always = False

        def admit(self, candidate, size_bytes, departures):
            asked.append((type(candidate).__name__, size_bytes))
            return True

    run([DOCUMENT], [0.0], Wanted(1, 2, 4), admission=Asked)
    assert asked == [("KvSpan", 4), *[("Checkpoint", 10)] * 3]


def test_more_bytes_than_a_record_can_hold_are_refused():
    with pytest.raises(UsageError, match=r"would hold 2,305,843,009,213,693,952 bytes"):
        run([(1,) * 9], [0.0], profile=toy_profile(kv_bytes=2**60))


def test_requests_beyond_the_measured_range_are_counted():
    # The profile was measured up to 1,000 tokens of prefill and as many of context.
    long, longer = (1,) * 1000, (2,) * 1001
    result = run([long, longer, (*long, 3)], [0.0, 2e3, 4e3], Wanted(1000))
    assert result.columns["saved_tokens"].tolist() == [0, 0, 1000]
    assert result.counters.extrapolated_requests == 1


def test_a_queue_needs_times():
    with pytest.raises(UsageError, match="no arrival times"):
        run([DOCUMENT], None)


def test_what_cannot_be_run_is_refused():
    with pytest.raises(UsageError, match="queue, instant"):
        run([DOCUMENT], [0.0], server="fast")
    with pytest.raises(UsageError, match="alignment"):
        run([DOCUMENT], [0.0], alignment=0)
    with pytest.raises(UsageError, match="tail, block, span"):
        run([DOCUMENT], [0.0], cut="run")
    with pytest.raises(UsageError, match="at least 1 replica"):
        run([DOCUMENT], [0.0], replicas=0)
    with pytest.raises(UsageError, match="expected unified, split:states=64"):
        run([DOCUMENT], [0.0], pools="two")
    with pytest.raises(UsageError, match="'split:states=2' have kv and states"):
        run([DOCUMENT], [0.0], pools="split:states=2", eviction={"kv": EVICTION["lru"]})
    for horizon in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="horizon"):
            run([DOCUMENT], [0.0], horizon_seconds=horizon)


@pytest.mark.parametrize("positions", [[5], [2, 5], [-3], [-3, 2], [0, 2]])
def test_a_placer_that_leaves_the_prompt_is_refused(positions):
    class Beyond(Wanted):
        def place(self, prefix, window):
            return positions

    wrong = next(p for p in positions if not 1 <= p <= 4)
    with pytest.raises(UsageError, match=f"position {wrong} in a prompt of 4"):
        run([DOCUMENT], [0.0], Beyond(), alignment=2)


def test_positions_are_those_that_were_stored():
    result = run([(*DOCUMENT, 5, 6), (*DOCUMENT, 7), (8, 9)], [0.0, 2.0, 3.0], Wanted(2, 4))
    assert result.columns["checkpoints_written"].tolist() == [2, 0, 1]
    assert result.positions.tolist() == [2, 4, 2]
    small = run([(*DOCUMENT, 5, 6)], [0.0], Wanted(2, 4), capacity_bytes=17)
    assert small.columns["checkpoints_written"].tolist() == [1]
    assert small.positions.tolist() == [2]  # the other found no room
