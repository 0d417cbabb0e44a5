"""Units of time: what is hard to believe is told, with what other units would give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simulator.base.errors import DataError
from workloads.formats import FORMATS
from workloads.opening import open_trace, read_rows
from workloads.options import ReadOptions
from workloads.validation import validate

WHAT = "implausible-times"


@pytest.fixture
def doubt(tmp_path):
    """Return what validation says of the unit of times; None where it says nothing."""

    def of(times, *, tokens=2000, name="mooncake", **options):
        path = tmp_path / "t.jsonl"
        path.write_text("".join(row(name, time, tokens) for time in times))
        anomalies = [a for a in validate(path, format=name, **options) if a.what == WHAT]
        notes = [n for n in open_trace(path, format=name, **options).notes if WHAT in n]
        assert len(notes) == len(anomalies)
        assert all(a.detail in note for a, note in zip(anomalies, notes, strict=True))
        assert all((a.count, a.first_line, a.error) == (len(times), 1, False) for a in anomalies)
        return anomalies[0].detail if anomalies else None

    return of


def row(name, time, tokens):
    if name == "chat":
        messages = [{"role": "user", "content": "word " * 20}]
        return json.dumps({"created": time, "messages": messages}) + "\n"
    return json.dumps({"timestamp": time, "input_length": tokens, "hash_ids": []}) + "\n"


def poisson(count, rate, digits=3, seed=1):
    gaps = np.random.default_rng(seed).exponential(1 / rate, count)
    return [round(time, digits) for time in np.cumsum(gaps).tolist()]


def test_seconds_taken_for_milliseconds(doubt):
    times = [round(443 * at / 199, 3) for at in range(200)]
    sentence = doubt(times)
    assert sentence == (
        "read as ms: 449 requests/s and 903,000 prompt tokens/s for 443 ms, with fractions of a "
        "ms: is the unit of time right? with --time-unit s: 0.449 requests/s for 443 s"
    )
    assert doubt(times, time_unit="s") is None


def test_fractions_alone_are_enough_where_the_rate_is_high(doubt):
    assert "with --time-unit s: 0.6" in doubt([0.0, 1.572, 2.857, 4.717], tokens=10)
    assert doubt([0, 2, 3, 5], tokens=10) is None  # a burst of whole milliseconds
    assert doubt([at * 1234.567 for at in range(50)]) is None  # exact milliseconds


def test_whole_seconds_taken_for_milliseconds(doubt):
    sentence = doubt([2 * at for at in range(100)], tokens=1500)
    assert "500 requests/s" in sentence
    assert "with --time-unit s: 0.5 requests/s for 198 s" in sentence


@pytest.mark.parametrize(
    ("unit", "ticks", "better"),
    [
        ("s", 1e3, "with --time-unit ms: 1 requests/s for 499 s"),
        ("s", 1e6, "with --time-unit us: 1 requests/s for 499 s"),
        ("ms", 1e6, "with --time-unit us: 1 requests/s for 499 s"),
        ("ms", 1e9, "with --time-unit ns: 1 requests/s for 499 s"),
        ("us", 1e9, "with --time-unit ns: 1 requests/s for 499 s"),
        ("us", 1e3, "with --time-unit ms: 1 requests/s for 499 s"),
        ("ns", 1e3, "with --time-unit ms: 1 requests/s for 499 s"),
    ],
)
def test_other_units_are_told_in_either_direction(doubt, unit, ticks, better):
    assert better in doubt([int(at * ticks) for at in range(500)], time_unit=unit)


def test_a_trace_of_years_is_told(doubt):
    day = [at * 1000 for at in range(0, 345_600, 3_600)]  # four days in ms
    sentence = doubt(day, time_unit="s")
    assert sentence.startswith("read as s: one request in 41.7 days for 10.8 years")
    assert "with --time-unit ms: one request in 3,600 s for" not in sentence  # no better


@pytest.mark.parametrize(
    ("name", "epoch", "unit"),
    [("mooncake", 1_700_000_000, "s"), ("chat", 1_700_000_000_000, "ms")],
)
def test_seconds_since_1970_tell_the_unit(doubt, name, epoch, unit):
    ticks = {"s": 1, "ms": 1000}[unit]
    times = [epoch + at * 60 * ticks for at in range(3)]
    read = {"s": "ms", "ms": "s"}[unit]
    assert doubt(times, name=name) == (
        f"read as {read}, they look like {unit} since 1970 (from 2023-11-14): is the unit of time "
        f"right? with --time-unit {unit}: 0.0167 requests/s for 120 s"
    )
    assert doubt(times, name=name, time_unit=unit) is None


def test_a_slow_log_of_our_years_is_what_it_says(doubt):
    assert doubt([1_700_000_000 + at * 90_000 for at in range(20)], name="chat") is None
    assert doubt([f"2024-05-{day:02d} 00:00:00" for day in range(1, 20)], name="chat") is None


@pytest.mark.parametrize("rate", [0.02, 0.5, 5, 40])
def test_usual_rates_raise_no_doubt(doubt, rate):
    assert doubt(poisson(300, rate), time_unit="s") is None
    assert doubt([1000 * time for time in poisson(300, rate, 17)]) is None


def test_times_at_once_raise_none(doubt):
    assert doubt([7] * 50) is None
    assert doubt([7]) is None


def test_real_traces_raise_none(shared):
    seen = 0
    for path in sorted((shared / "data").glob("*/*")):
        if path.suffix == ".md" or path.stat().st_size > 400_000:
            continue  # the largest ones have tests of their own
        try:
            rows = read_rows(path, ReadOptions(on_bad_line="skip"))
        except Exception:  # tables of lengths, which are no traces
            continue
        seen += bool(rows.time_ticks)
        assert WHAT not in rows.oddities, path
    assert seen >= 10


def test_only_formats_that_take_a_unit_are_doubted(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"arrival_time_ns": at, "input_toks": 90, "output_toks": 1} for at in range(50)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert "time_unit" not in FORMATS["llmservingsim"].options
    assert WHAT not in {a.what for a in validate(path)}


def test_nanoseconds_since_1970_are_refused_with_the_option_that_reads_them(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(row("mooncake", 1_700_000_000_000_000_000, 9))
    message = r"is it in another unit\? \(--time-unit ns\)"
    with pytest.raises(DataError, match=message):
        open_trace(path)
    assert len(open_trace(path, time_unit="ns")) == 1
    path.write_text(row("mooncake", -1, 9))
    with pytest.raises(DataError, match=r"is it in another unit\?$"):
        open_trace(path)
