"""The best possible: hand-worked, never exceeded, and known only where it holds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from policies.placement.holding import ResumeOptions
from policies.registry import create
from reports.results.bound import bound_saved_tokens, stored_bound
from reports.study.scenario import build_scenario
from reports.study.sections import CacheSection, ResolvedStudy, ServerSection
from simulator.serving.instant import Instant
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from tests.reports.pages.rendering import render_study
from tests.reports.pages.test_study_page import text_of
from tests.reports.sample_study import GIB, sample
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.store import save
from workloads.synthetic import SyntheticSpec, generate, read_generator

Kind = Literal["instant", "queue"]
POLICIES = (
    ("adaptive", "lru", "always"),
    ("branch", "fifo", "always"),
    ("block:size=512", "lru", "always"),
    ("clairvoyant", "belady", "always"),
)


def scenario(capacity: int | None, kind: Kind = "instant") -> Scenario:
    study = ResolvedStudy(cache=CacheSection(capacity=capacity), server=ServerSection(kind=kind))
    return build_scenario(study)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(SyntheticSpec(seed=3, requests=300, documents=8))


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("capacity", [GIB // 4, 2 * GIB, None])
@pytest.mark.parametrize("kind", ["instant", "queue"])
def test_no_policy_exceeds_it(
    trace: Trace, capacity: int | None, warmup: float, kind: Kind
) -> None:
    wanted = scenario(capacity, kind)
    bound = bound_saved_tokens(trace, wanted, warmup)
    assert bound is not None
    for placer, eviction, admission in POLICIES:
        tried = replace(
            wanted,
            placer=partial(create, "placer", placer),
            eviction=partial(create, "eviction", eviction),
            admission=partial(create, "admission", admission),
        )
        saved = simulate(trace, tried).rows_after(warmup)["saved_tokens"].sum()
        assert saved <= bound


@pytest.mark.parametrize("warmup", [0.0, 0.3])
def test_an_unbounded_cache_reaches_it(trace: Trace, warmup: float) -> None:
    tried = replace(scenario(None), placer=lambda: create("placer", "clairvoyant"))
    saved = simulate(trace, tried).rows_after(warmup)["saved_tokens"].sum()
    assert bound_saved_tokens(trace, tried, warmup) == saved


def test_more_capacity_or_more_requests_never_lower_it(trace: Trace) -> None:
    def bound(capacity: int | None, warmup: float) -> int:
        return bound_saved_tokens(trace, scenario(capacity), warmup) or 0

    for warmup in (0.0, 0.2):
        by_capacity = [bound(size, warmup) for size in (0, GIB // 4, GIB, 8 * GIB, None)]
        assert by_capacity == sorted(by_capacity)
        assert by_capacity[0] == 0
    assert bound(GIB, 0.2) <= bound(GIB, 0.0)


@pytest.mark.parametrize("name", ["chats", "agents", "thoughts"])
@pytest.mark.parametrize("warmup", [0.0, 0.4])
def test_known_answers_and_unserved_requests_have_one_too(name: str, warmup: float) -> None:
    trace = read_generator(name).trace(300, 3, Poisson().at_rate(1.0), Drift())
    assert trace.after is not None
    for kind in ("instant", "queue"):
        for capacity in (GIB // 4, 2 * GIB):
            wanted = replace(scenario(capacity, kind), queue_limit=2)
            bound = bound_saved_tokens(trace, wanted, warmup)
            assert bound is not None
            for placer in ("marconi", "last", "branch"):
                tried = replace(wanted, placer=partial(create, "placer", placer))
                saved = simulate(trace, tried).rows_after(warmup)["saved_tokens"].sum()
                assert saved <= bound


def test_several_replicas_and_own_schedulers_have_none(trace: Trace) -> None:
    assert bound_saved_tokens(trace, replace(scenario(GIB), replicas=2)) is None
    assert bound_saved_tokens(trace, replace(scenario(GIB), server=Instant)) is None


def test_the_page_tells_how_far_it_is_and_marks_who_looks_ahead() -> None:
    cells, manifest = sample(["last", "branch", "clairvoyant", "dense"], [4 * GIB, 8 * GIB])
    page = render_study(cells, manifest | {"baseline": "last"})
    text = text_of(page)
    assert "% of the best possible" in text
    assert "clairvoyant looks ahead" in text
    assert "clairvoyant (looks ahead)" in page
    assert "“Best possible” is a bound" in text
    without = cells.drop("bound_saved_tokens")
    assert "best possible" not in text_of(render_study(without, manifest)).replace(
        "Of the best possible", ""
    )


def test_a_stored_workload_is_walked_once_for_all_capacities(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = []
    whole = ResumeOptions.of
    monkeypatch.setattr(ResumeOptions, "of", lambda *args: walked.append(args) or whole(*args))
    save(trace, tmp_path / "trace.parquet")
    sizes = (GIB // 4, GIB, 4 * GIB, None)
    bounds = [stored_bound(tmp_path / "trace.parquet", scenario(size), 0.1) for size in sizes]
    assert len(walked) == 2  # all requests, and those that count
    assert bounds == [bound_saved_tokens(trace, scenario(size), 0.1) for size in sizes]
