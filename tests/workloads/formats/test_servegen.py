from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from simulator.base.errors import DataError
from workloads.opening import format_of, open_trace
from workloads.validation import validate

LEVELS = ("p5", "p25", "p50", "p75", "p95", "p99")


def windows(*rows):
    names = ("pool", "client", "window_s", "rate", "pattern", "param1")
    return pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows])


def lengths(pool="m", client=0, window_s=0, prompts=(10, 20, 30, 40, 50, 60), outputs=(1,) * 6):
    named = {f"in_{level}": float(v) for level, v in zip(LEVELS, prompts, strict=True)}
    named |= {f"out_{level}": float(v) for level, v in zip(LEVELS, outputs, strict=True)}
    return {"pool": pool, "client": client, "window_s": window_s} | named


@pytest.fixture
def write(tmp_path):
    def write(table, *rows, kind="parquet"):
        for name, frame in (("arrival_windows", table), ("length_quantiles", pl.DataFrame(rows))):
            path = tmp_path / f"{name}.{kind}"
            frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
        return tmp_path

    return write


BUSY = windows(("m", 0, 0, 2.0, "Gamma", 0.5), ("m", 0, 600, 4.0, "Weibull", 0.8))


def test_requests_follow_the_rates_and_quantiles(write):
    path = write(BUSY, lengths())
    assert format_of(path) == "servegen"
    trace = open_trace(path)
    assert trace.problem() is None
    assert trace.arrival_seconds is not None
    counts = np.histogram(trace.arrival_seconds, bins=[0, 600, 1201])[0]
    # the variance of a count is about mean * cv**2: 2 for this gamma, 1.6 for this Weibull
    assert abs(counts[0] - 1200) < 4 * np.sqrt(1200 * 2)
    assert abs(counts[1] - 2400) < 4 * np.sqrt(2400 * 1.6)
    below = [(trace.prompt_tokens <= level).mean() for level in (20, 30, 40, 50)]
    for share, wanted in zip(below, (0.25, 0.5, 0.75, 0.95), strict=True):
        slack = 0.5 * 0.02 + 4 * np.sqrt(wanted * (1 - wanted) / len(trace))  # lengths are rounded
        assert abs(share - wanted) < slack
    assert (trace.prompt_tokens.min(), trace.prompt_tokens.max()) == (10, 60)
    assert set(trace.output_tokens.tolist()) == {1}
    assert trace.labels == ("m",)
    assert trace.session.tolist() == [-1] * len(trace)


def test_the_same_seed_draws_the_same_requests(write):
    path = write(BUSY, lengths())
    one, same, other = open_trace(path), open_trace(path, seed=0), open_trace(path, seed=1)
    assert one.arrival_seconds is not None
    assert same.arrival_seconds is not None
    assert one.arrival_seconds.tolist() == same.arrival_seconds.tolist()
    assert one.prompt_tokens.tolist() == same.prompt_tokens.tolist()
    assert len(one) != len(other)


def test_the_first_table_alone_and_csv_are_the_same(write):
    folder = write(BUSY, lengths())
    whole = open_trace(folder)
    by_file = open_trace(folder / "arrival_windows.parquet")
    assert by_file.prompt_tokens.tolist() == whole.prompt_tokens.tolist()
    for name in ("arrival_windows", "length_quantiles"):
        (folder / f"{name}.parquet").unlink()
    as_csv = open_trace(write(BUSY, lengths(), kind="csv") / "arrival_windows.csv")
    assert as_csv.prompt_tokens.tolist() == whole.prompt_tokens.tolist()


def test_lengths_follow_the_last_window_that_has_begun(write):
    later = lengths(window_s=600, prompts=(1000,) * 6)
    trace = open_trace(write(BUSY, later, lengths()))
    assert trace.arrival_seconds is not None
    assert (trace.prompt_tokens[trace.arrival_seconds < 595] <= 60).all()
    assert (trace.prompt_tokens[trace.arrival_seconds > 605] == 1000).all()


def test_a_client_without_lengths_takes_those_of_its_pool(write):
    table = windows(("m", 7, 0, 2.0, "Gamma", 0.5), ("m", 0, 0, 0.0, "", 0.0))
    path = write(table, lengths(), lengths(client=1, prompts=(500,) * 6))
    trace = open_trace(path)
    share = (trace.prompt_tokens == 500).mean()
    assert abs(share - 0.5) < 4 * np.sqrt(0.25 / len(trace))
    assert "no-lengths" in {anomaly.what for anomaly in validate(path)}
    with pytest.raises(DataError, match="expected lengths of pool 'm', found none"):
        open_trace(write(table, lengths(pool="x")))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("m", 0, 0, 1.0, "Gamma", 0.5), ":2: field 'window_s': expected each window of a client"),
        (("m", 0, 600, -1.0, "Gamma", 0.5), ":2: field 'rate': expected a number from 0 to"),
        (("m", 0, 600, float("nan"), "Gamma", 0.5), ":2: field 'rate'"),
        (("m", 0, 600, 1.0, "Poisson", 0.5), ":2: field 'pattern': expected Gamma or Weibull"),
        (("m", 0, 600, 1.0, "Gamma", 0.0), ":2: field 'param1': expected a shape"),
        (("m", 0, -600, 1.0, "Gamma", 0.5), ":2: field 'window_s'"),
        (("m", None, 0, 1.0, "Gamma", 0.5), ":2: field 'client': expected a whole number"),
        ((None, 0, 0, 1.0, "Gamma", 0.5), ":2: field 'pool': expected text"),
    ],
)
def test_a_bad_window_is_named_or_skipped(write, row, message):
    path = write(windows(("m", 0, 0, 2.0, "Gamma", 0.5), row), lengths())
    with pytest.raises(DataError) as caught:
        open_trace(path)
    assert message in str(caught.value)
    assert len(open_trace(path, on_bad_line="skip")) > 1000


@pytest.mark.parametrize(
    ("quantiles", "message"),
    [
        ((10, 20, 15, 40, 50, 60), "field 'in_p50': expected at least 20 as below it, found 15"),
        ((-1, 20, 30, 40, 50, 60), "field 'in_p5': expected 0 to"),
        ((1, 20, 30, 40, 50, float("inf")), "field 'in_p99': expected 0 to"),
    ],
)
def test_quantiles_that_are_none_are_named(write, quantiles, message):
    with pytest.raises(DataError) as caught:
        open_trace(write(BUSY, lengths(prompts=quantiles)))
    assert message in str(caught.value)


def test_windows_of_too_many_or_no_requests_are_refused(write):
    with pytest.raises(
        DataError, match=r"about 6,000,000 requests, over the limit of .*: keep fewer"
    ):
        open_trace(write(windows(("m", 0, 0, 1e4, "Gamma", 0.5)), lengths()))
    with pytest.raises(DataError, match="expected a window with requests, found none"):
        open_trace(write(windows(("m", 0, 0, 0.0, "", 0.0)), lengths()))


def test_a_pool_of_the_published_windows(shared, tmp_path):
    source = shared / "data" / "servegen"
    table = pl.read_parquet(source / "arrival_windows.parquet")
    chosen = table.filter((pl.col("pool") == "deepseek-r1") & (pl.col("window_s") < 7200))
    chosen.write_parquet(tmp_path / "arrival_windows.parquet")
    quantiles = source / "length_quantiles.parquet"
    (tmp_path / "length_quantiles.parquet").write_bytes(quantiles.read_bytes())
    trace = open_trace(tmp_path)
    assert trace.problem() is None
    wanted = 600 * chosen["rate"].sum()
    # counts of a client vary by about their mean times the cv squared, as the file has it
    variance = (600 * chosen["rate"] * chosen["cv"] ** 2).sum()
    assert abs(len(trace) - wanted) < 4 * np.sqrt(variance)
    assert trace.labels == ("deepseek-r1",)
