from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reports.cli import main
from reports.execution.precision import widest
from reports.results.comparison import compare
from reports.statistics import mean_interval
from reports.study.cells import expand
from reports.study.file import parse_study
from reports.study.layers import parse_override, read_settings
from reports.study.rounds import FIRST_REPLICATIONS, first_round, most_replications, next_round
from reports.study.sections import ResolvedStudy
from simulator.base.errors import UsageError
from simulator.base.units import parse_share
from tests.reports.execution.sweeps import finish, start, wait_for
from tests.reports.sample_study import sample

STUDY = """
[workload]
requests = 60
documents = 3
[study]
until_ci = "70 %"
max_replications = 40
[grid]
"policy.placer" = ["last", "branch"]
"""


def study_of(*sets: str) -> ResolvedStudy:
    return parse_study(read_settings(None, map(parse_override, sets)))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def share(value: str, number: float) -> None:
    assert parse_share(value) == pytest.approx(number)


def test_shares_are_read_as_people_write_them() -> None:
    share("1%", 0.01)
    share(" 2.5 % ", 0.025)
    share("0.1", 0.1)
    for bad in ("", "%", "-1%", "1 %%", "1e-2", "one", "nan"):
        with pytest.raises(UsageError, match="expected a share such as '1 %'"):
            parse_share(bad)


def test_rounds_grow_by_half_up_to_the_most() -> None:
    study = study_of("study.until_ci=1%", "study.max_replications=40")
    rounds = [first_round(study)]
    while rounds[-1] < most_replications(study):
        rounds.append(next_round(study, rounds[-1]))
    assert rounds == [10, 15, 23, 35, 40]
    assert first_round(study_of("study.until_ci=1%", "study.replications=20")) == 20
    assert first_round(study_of("study.replications=3")) == 3
    assert most_replications(study_of("study.replications=3")) == 3


def test_stopping_when_narrow_still_covers_what_it_says() -> None:
    study = study_of("study.until_ci=1%", "study.max_replications=200")
    generator = np.random.default_rng(3)
    for spread in (0.01, 0.02, 0.03):
        covered = 0
        for _ in range(2000):
            values = 1 + spread * generator.standard_normal(200)
            count = first_round(study)
            mean = mean_interval(values[:count])
            while mean.high is not None and mean.high - mean.value > 0.01 and count < 200:
                count = next_round(study, count)
                mean = mean_interval(values[:count])
            assert mean.low is not None
            assert mean.high is not None
            covered += mean.low <= 1 <= mean.high
        assert 0.92 <= covered / 2000 <= 0.97


def test_the_widest_interval_by_hand() -> None:
    cells, manifest = sample(["last", "branch"], [None], replications=3, baseline="last")
    (world,) = compare(cells, manifest)
    (last, branch) = world.at("unbounded")
    shares = []
    for metric, column in (("token_hit_rate",) * 2, ("ttft_seconds", "ttft_mean_seconds")):
        a = cells.filter(placer="last")[column].to_numpy()
        b = cells.filter(placer="branch")[column].to_numpy()
        for values, scale in ((a, a.mean()), (b - a, max(a.mean(), b.mean()))):
            half = 4.302653 * values.std(ddof=1) / math.sqrt(3)  # Student's t, two degrees
            shares.append(half / scale)
        assert metric
    assert widest([world]) == pytest.approx(max(shares), rel=1e-5)
    assert last.series.name == "last"
    assert branch.series.name == "branch"


def test_one_replication_has_no_interval_and_constants_need_none() -> None:
    cells, manifest = sample(["last"], [None], replications=1)
    assert widest(compare(cells.with_columns(block_saved_tokens=None), manifest)) == math.inf
    cells, manifest = sample(["none"], [None], replications=3)
    (world,) = compare(cells, manifest)
    (key,) = world.points
    world.points[key] = replace(world.points[key], ttft_seconds=None)
    assert widest([world]) == 0.0
    assert widest([]) == 0.0


def test_replications_are_added_until_intervals_are_narrow(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "one"
    whole = finish(study, out, "--jobs", "1", page=False)
    manifest = json.loads(whole["manifest.json"])
    count = manifest["replications"]
    assert FIRST_REPLICATIONS < count <= 40
    assert manifest["until_ci"] == {"share": 0.7, "reached": True}
    cells = pl.read_parquet(out / "cells.parquet")
    assert sorted(set(cells["replication"])) == list(range(count))
    assert widest(compare(cells, manifest)) <= 0.7
    before = cells.filter(pl.col("replication") < math.ceil(count / 1.5) - 1)
    assert widest(compare(before, manifest)) > 0.7
    sweep = start(study, tmp_path / "two", "--jobs", "2", page=False)
    wait_for(sweep, tmp_path / "two", 2 * FIRST_REPLICATIONS + 1)
    sweep.kill()
    assert finish(study, tmp_path / "two", "--jobs", "1", page=False) == whole


def test_what_was_not_reached_is_told(study: Path, tmp_path: Path) -> None:
    flags = ("--jobs", "1", "--until-ci", "0.1%", "--max-replications", "3")
    code, output = start(study, tmp_path / "out", *flags).end()
    assert code == 0
    assert "the intervals are still wider than --until-ci asks" in output
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["replications"], manifest["until_ci"]["reached"]) == (3, False)
    assert "--until-ci 0.1% --max-replications 3" in manifest["command"]
    assert "Intervals were asked to be within 0.1 %" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (("study.until_ci=-1%",), "'study.until_ci': share: expected a share"),
        (("study.until_ci=-1",), "'study.until_ci': expected greater than 0, found -1"),
        (("study.until_ci=1.0",), "'study.until_ci'"),
        (("study.max_replications=5",), "which is not given"),
        (
            ("study.until_ci=1%", "study.max_replications=5", "study.replications=6"),
            "contradicts",
        ),
        (("study.until_ci=1%", "model.draws=true"), "do not make narrow"),
    ],
)
def test_what_contradicts_is_one_line(sets: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        expand(read_settings(None, map(parse_override, sets)))


@pytest.mark.parametrize("server", ["queue", "instant"])
def test_a_deterministic_replay_is_refused(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"timestamp": 0, "input_length": 1000, "output_length": 5, "hash_ids": [1, 2]}
    (tmp_path / "trace.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "s.toml").write_text(
        f"[workload]\ntrace = 'trace.jsonl'\n[server]\nkind = '{server}'\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o"), "--until-ci", "1%"])
    message = capsys.readouterr().err
    assert (ended.value.code, message.count("\n")) == (2, 1)
    assert "more replications tell nothing: leave it out" in message
