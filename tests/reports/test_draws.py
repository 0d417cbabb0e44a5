"""What is not known of the costs, carried into the intervals of a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.results.evidence import difference, estimate
from reports.statistics import drawn_interval, mean_interval
from reports.study.cells import expand, refuse_unfit
from reports.study.file import parse_study
from reports.study.layers import parse_override, read_settings
from reports.study.paths import placed
from reports.study.scenario import build_scenario, profile_named
from reports.study.settings import Settings
from simulator.base.errors import UsageError
from simulator.costs.profile import profile_to_json
from tests.reports.pages.rendering import caveats_of
from tests.reports.profiles_with_draws import profile_with_draws


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.json"
    path.write_text(profile_to_json(profile_with_draws()), encoding="utf-8")
    return path


def settings(profile: object, *sets: str) -> Settings:
    given = ["model.draws=true", "study.replications=4", f'model.profile="{profile}"', *sets]
    return read_settings(None, map(parse_override, given))


def test_each_replication_has_a_draw_of_its_own(profile: Path) -> None:
    _, cells = expand(settings(profile))
    assert [cell.draw for cell in cells] == [0, 1, 2, 3]
    assert len({cell.identity for cell in cells}) == 4
    prices = {build_scenario(cell.study, draw=cell.draw).profile.prefill.F.us[2] for cell in cells}
    assert len(prices) == 4
    assert profile_named(str(profile)).prefill.F.us[2] not in prices


def test_policies_are_compared_under_one_draw(profile: Path) -> None:
    _, cells = expand(settings(profile, 'grid."policy.placer"=["last", "branch"]'))
    draws = {(cell.study.policy.placer, cell.replication): cell.draw for cell in cells}
    assert all(draws["last", r] == draws["branch", r] == r for r in range(4))


def test_without_draws_nothing_changes(profile: Path) -> None:
    _, cells = expand(settings(profile, "model.draws=false"))
    assert {cell.draw for cell in cells} == {None}


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (("study.replications=1",), "expected 2 or more"),
        (("study.replications=7",), "numbered 6, found 6 draws"),
        (('model.profile="qwen3.5-9b-h200"',), "numbered 0, found 0 draws"),
        (('model.draws="yes"',), "model.draws"),
    ],
)
def test_refused(sets: tuple[str, ...], message: str, profile: Path) -> None:
    with pytest.raises(UsageError, match=message):
        expand(settings(profile, *sets))


def test_draws_are_no_key_of_the_grid() -> None:
    with pytest.raises(UsageError, match=r"unknown key of the grid 'model\.draws'"):
        expand(read_settings(None, [parse_override('grid."model.draws"=[true, false]')]))


def test_a_replay_may_be_repeated_with_draws(profile: Path, tmp_path: Path) -> None:
    lines = tmp_path / "t.jsonl"
    request = {"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}
    lines.write_text(json.dumps(request) + "\n", encoding="utf-8")
    trace = f'workload.trace="{lines}"'
    study, _ = expand(settings(profile, trace, 'server.kind="instant"'))
    refuse_unfit(study, "t", has_arrivals=True)
    without, _ = expand(settings(profile, trace, "model.draws=false"))
    with pytest.raises(UsageError, match="one seed repeated is no evidence"):
        refuse_unfit(without, "t", has_arrivals=True)


def test_the_interval_of_draws_does_not_shrink_with_their_number() -> None:
    random = np.random.default_rng(1)
    few, many = random.normal(10, 1, 200), random.normal(10, 1, 5000)
    assert drawn_interval([3.0]).low is None
    for values in (few, many):
        interval = drawn_interval(values)
        assert interval.low is not None
        assert interval.high is not None
        assert interval.method == "draws"
        assert (interval.high - interval.low) / 2 == pytest.approx(2.0, rel=0.25)  # 1.96 sigma
    mean = mean_interval(many)
    assert mean.low is not None
    assert mean.low > 9.9


def test_the_interval_of_draws_covers_another_draw() -> None:
    random = np.random.default_rng(2)
    covered = 0
    for _ in range(500):
        *values, another = random.normal(5, 2, 9)
        interval = drawn_interval(values)
        covered += (interval.low or 0) <= another <= (interval.high or 0)
    assert 0.92 <= covered / 500 <= 0.98


def row(replication: int, ttft: float, draw: int | None) -> dict[str, Any]:
    metrics = {"replication": replication, "seed": replication, "ttft_mean_seconds": ttft}
    return metrics if draw is None else metrics | {"draw": draw}


@pytest.mark.parametrize("deterministic", [True, False])
def test_evidence_of_draws(deterministic: bool) -> None:
    ours = [row(k, 1.0 + 0.1 * k, k) for k in range(4)]
    theirs = [row(k, 2.0 + 0.1 * k, k) for k in range(4)]
    interval = estimate(ours, "ttft_seconds", deterministic)
    assert interval is not None
    assert (interval.method, interval.count) == ("draws", 4)
    # Both move with the draw, so the paired difference is known exactly.
    less = difference(ours, theirs, "ttft_seconds", deterministic)
    assert less is not None
    assert (less.low, less.high) == (pytest.approx(-1.0), pytest.approx(-1.0))


def test_replications_without_draws_are_what_they_were() -> None:
    interval = estimate([row(k, 1.0 + k, None) for k in range(4)], "ttft_seconds", False)
    assert interval is not None
    assert interval.method == "replications"


def test_the_care_box_tells_of_loss_uncertainty_and_warnings() -> None:
    text = " ".join(
        caveats_of(
            [],
            {
                "profile": {
                    "id": "p",
                    "kind": "measured",
                    "scale": "group x 8",
                    "band": 0.031,
                    "lossy": {"p:kv=0.5": "KV keeps 50 % of its bytes; states are exact"},
                    "warnings": ["one layer group was timed"],
                }
            },
        )
    )
    assert "Lossy, with the profile p:kv=0.5: KV keeps 50 % of its bytes; states are exact" in text
    assert "timed as group x 8, not on the whole model" in text
    assert "known to about 3.1 %" in text
    assert "The profile warns: one layer group was timed." in text
    drawn = caveats_of([], {"profile": {"band": 0.031, "draws": True}})
    assert not any("known to about" in fact for fact in drawn)


def test_a_resolved_study_holds_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Profiles that the grid varies, too, which stayed relative to where they were read."""
    monkeypatch.chdir(tmp_path)
    stated = {"grid.model.profile": ["a.json:kv=0.5", "qwen3.5-9b-h200"]}
    study = parse_study(read_settings(None, [(key, v, "a test") for key, v in stated.items()]))
    varied = study.absolute()["grid"]["model.profile"]
    assert varied == [f"{tmp_path / 'a.json'}:kv=0.5", "qwen3.5-9b-h200"]


def test_paths_of_profiles_keep_their_options(tmp_path: Path) -> None:
    def place(path: str) -> Path:
        return tmp_path / path

    assert placed("model.profile", "a.json:kv=0.5", place) == f"{tmp_path / 'a.json'}:kv=0.5"
    assert placed("model.profile", "a.json", place) == str(tmp_path / "a.json")
    for name in ("qwen3.5-9b-h200:kv=0.5", "analytic:model=x", "a.json/x"):
        assert placed("grid.model.profile", name, place) == name
    study = tmp_path / "study.toml"
    study.write_text('[model]\nprofile = "mine.json:kv_budget=64"\n', encoding="utf-8")
    value = read_settings(study).values["model.profile"]
    assert value == f"{tmp_path / 'mine.json'}:kv_budget=64"


def test_a_profile_with_draws_reads_back(profile: Path) -> None:
    assert json.loads(profile.read_text())["prefill"]["draws"]
    assert profile_named(str(profile)) == profile_with_draws()
