"""Summaries of records."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simulator.results.records import FINISHED, LOSSES, UNFINISHED, Records
from simulator.results.result import Counters, Result, quantiles

COUNTERS = Counters(1, 3, 30, 500, 7, 520, 2, 0)


def result_of(rows):
    records = Records(len(rows))
    for request, status, prompt, saved, ttft in rows:
        loss = "never_seen" if status == FINISHED else "not_served"
        values = {"status": status, "prompt_tokens": prompt, "saved_tokens": saved}
        values |= {"kv_tokens": saved + 4, "kv_bytes": 100}
        values |= {f"lost_{loss}_tokens": prompt - saved, "prefill_seconds": ttft}
        for name, value in values.items():
            getattr(records.rows, name)[request] = value
    return Result(records.columns(), COUNTERS, 12.0, 0.5)


def test_summary_counts_what_was_not_served():
    summary = result_of([(1, UNFINISHED, 30, 0, 0.0), (0, FINISHED, 10, 4, 2.0)]).summary()
    assert summary["token_hit_rate"] == pytest.approx(4 / 40)
    assert summary["recomputed_tokens"] == 6
    assert summary["ttft_seconds"]["mean"] == 2.0
    assert summary["ttft_seconds"]["p99"] is None
    assert summary["kv"]["stranded_bytes_mean"] == 8.0
    assert set(summary["lost_tokens"]) == set(LOSSES)
    json.dumps(summary, allow_nan=False)


def test_rows_come_back_in_the_order_of_the_trace():
    result = result_of(
        [(2, FINISHED, 1, 0, 1.0), (0, FINISHED, 2, 0, 1.0), (1, FINISHED, 3, 0, 1.0)]
    )
    assert result.columns["prompt_tokens"].tolist() == [2, 3, 1]


def test_warm_up_is_left_out():
    rows = [(request, FINISHED, 10, request, 1.0) for request in range(10)]
    assert result_of(rows).summary(0.5)["saved_tokens"] == 5 + 6 + 7 + 8 + 9


def test_no_request_gives_no_figure():
    summary = result_of([]).summary()
    assert summary["token_hit_rate"] is None
    assert summary["checkpoints"]["mean_per_request"] is None
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize(("count", "known"), [(367, False), (368, True)])
def test_a_p99_needs_368_requests(count, known):
    assert (quantiles(np.ones(count))["p99"] is not None) == known


def test_positions_come_in_the_order_of_the_trace_whoever_ends_first():
    records = Records(3)
    for request, positions in ((2, [7]), (0, [4, 9]), (1, [])):
        records.rows.checkpoints_written[request] = len(positions)
        if positions:
            records.add_positions(request, positions)
    kept = records.positions()
    records.add_positions(2, [8])  # a view of what grows would stop it
    assert kept.tolist() == [4, 9, 7]


def test_a_request_that_did_not_arrive_has_no_row():
    records = Records(3)
    for request in (0, 2):
        records.rows.status[request] = FINISHED
    assert records.columns()["request"].tolist() == [0, 2]


def test_no_request_has_no_position():
    assert Records(0).positions().tolist() == []
