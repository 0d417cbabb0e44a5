from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.workloads.inspection.small_traces import NaiveStack, requests, trace_of
from workloads.inspection.clock import clock_of
from workloads.inspection.overlaps import overlaps
from workloads.inspection.reuse import lru_curve, reuse
from workloads.inspection.uses import uses
from workloads.inspection.working_set import _working_set


def opened(rows):
    prompts, answers, gaps = zip(*rows, strict=True)
    return trace_of(prompts, answers, np.cumsum(gaps))


def distances(rows):
    """For each request: of each of its tokens the stack distance and the last use, by hand."""
    stack, last, by_request = NaiveStack(), {}, []
    for at, (prompt, answer, _) in enumerate(rows):
        prefixes = [tuple(prompt[:stop]) for stop in range(1, len(prompt) + 1)]
        by_request.append([(stack.distance(prefix), last.get(prefix)) for prefix in prefixes])
        whole = (*prompt, *answer)
        stack.use(whole)
        last |= {whole[:stop]: at for stop in range(1, len(whole) + 1)}
    return by_request


@given(requests)
def test_every_token_has_the_distance_of_a_naive_stack(rows):
    used = uses(opened(rows))
    naive = [
        [(distance, before) for distance, before in tokens if before is not None]
        for tokens in distances(rows)
    ]
    mine = [[] for _ in rows]
    for at in reversed(np.flatnonzero(used.again)):  # walked from the end
        for token in range(used.tokens[at]):
            mine[used.request[at]].append((used.above[at] + token + 1, used.before[at]))
    # requests were walked one after the other, so that reversing all reverses each
    assert mine == naive


@given(requests)
def test_used_tokens_are_the_overlap(rows):
    trace = opened(rows)
    used = uses(trace)
    again = used.again
    deepest = np.zeros(len(trace), dtype=np.int64)
    np.maximum.at(deepest, used.request[again], used.stop[again])
    assert deepest.tolist() == overlaps(trace).tolist()
    shared = np.bincount(used.request[again], used.tokens[again], len(trace))
    assert shared.tolist() == overlaps(trace).tolist()


@given(requests)
def test_the_lru_curve_is_that_of_a_naive_stack(rows):
    trace = opened(rows)
    curve = lru_curve(trace, uses(trace))
    tokens = [
        distance
        for request, (prompt, _, _) in zip(distances(rows), rows, strict=True)
        for stop, (distance, _) in enumerate(request, start=1)
        if distance is not None and stop < len(prompt)  # the last token is never saved
    ]
    for capacity, saved in zip(curve.capacity_tokens, curve.saved_tokens, strict=True):
        assert saved == sum(distance <= capacity for distance in tokens)
    assert curve.saved_tokens[-1] == len(tokens)
    for share, least in curve.tokens_for_share.items():
        wanted = float(share.rstrip("%")) / 100 * len(tokens)
        assert sum(distance <= least for distance in tokens) >= wanted
        assert least == 0 or sum(distance <= least - 1 for distance in tokens) < wanted


@given(requests)
def test_reuse_counts_every_token_once(rows):
    trace = opened(rows)
    reused = reuse(trace, uses(trace))
    again = [
        (at - before, trace.arrival_seconds[at] - trace.arrival_seconds[before])
        for at, request in enumerate(distances(rows))
        for _, before in request
        if before is not None
    ]
    assert reused.tokens_used_again == len(again)
    assert reused.hits == sum(request[0][1] is not None for request in distances(rows))
    if again:
        assert reused.requests.mean == pytest.approx(np.mean([gap for gap, _ in again]))
        assert reused.seconds.max == max(seconds for _, seconds in again)
        assert reused.requests.p50 == sorted(gap for gap, _ in again)[(len(again) - 1) // 2]
    else:
        assert reused.requests is reused.seconds is reused.tokens is None


@given(requests)
@pytest.mark.parametrize("window", [1.0, 3.0, None])
def test_a_working_set_is_what_was_used_within_the_window(window, rows):
    trace = opened(rows)
    clock = clock_of(trace)
    moments = np.linspace(0, clock.span, 9)
    passed = np.array([len(prompt) + len(answer) for prompt, answer, _ in rows])
    working_set = _working_set(window, moments, clock.times, passed, uses(trace))
    wholes = [(*prompt, *answer) for prompt, answer, _ in rows]
    for moment, tokens in zip(moments, working_set.tokens, strict=True):
        within = {
            whole[:stop]
            for whole, time in zip(wholes, clock.times, strict=True)
            if time <= moment and (window is None or moment - time < window)
            for stop in range(1, len(whole) + 1)
        }
        assert tokens == len(within)


def test_the_curve_of_a_hand_worked_trace():
    # abc, xy, abd: `ab` is found again below 2 + 2 = 4 tokens, `c` and `d` are of no use
    trace = trace_of([[1, 2, 3], [7, 8], [1, 2, 4]])
    curve = lru_curve(trace, uses(trace))
    saved = dict(zip(curve.capacity_tokens, curve.saved_tokens, strict=True))
    assert saved == {0: 0, 1: 0, 2: 0, 3: 1, 4: 2}
    assert curve.tokens_for_share == {"50%": 3, "90%": 4, "99%": 4}
