"""The loop on a CPU: measure a profile of the toy model, serve a trace, compare."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibration.preflight import examine
from calibration.prototype.errors import service_errors, ttft_errors
from calibration.prototype.rules import Rules
from calibration.subject import find_subject
from policies.admission import Always
from policies.eviction import Lru
from policies.placement import Branch
from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile
from tests.calibration.prototype.conftest import DOCUMENTS, CountingClock, traffic
from tests.calibration.tiny import torch

from calibration.prototype.compare import Plan, compare  # isort: skip
from calibration.prototype.site import Site, TimesClock, open_site  # isort: skip
from calibration.prototype.steady import REFERENCE_TOKENS, SteadyClock  # isort: skip

TARGET = 0.15
RULES = Rules(Branch, Lru, Always, 2 * 2**20)


def test_half_of_the_requests_are_simulated_within_15_percent() -> None:
    threads = torch.get_num_threads()
    site = open_site("toy-qwen3.5", group=False, device="cpu")
    plan = Plan(traffic(DOCUMENTS, 16), RULES, load=0.2, passes=3)
    profile, outcome = compare(site, plan)
    torch.set_num_threads(threads)
    assert profile.kind == "toy"
    assert outcome.state_bytes == profile.state_bytes
    assert outcome.sameness.checked >= 3
    service, ttft = service_errors(outcome.served)[0], ttft_errors(outcome.served)[0]
    assert max(service.median_absolute, ttft.median_absolute) <= TARGET, (service, ttft)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_site_is_built_in_the_precision_that_is_asked_for(dtype: str) -> None:
    site = open_site("toy-qwen3.5", group=False, device="cpu", dtype=dtype)
    assert site.dtype == dtype
    logits = site.model.forward(site.model.new_cache(70), site.model.random_tokens(70, seed=0))
    assert str(logits.dtype) == f"torch.{dtype}"
    assert bool(logits.isfinite().all())


def test_memory_that_runs_out_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    site = open_site("toy-qwen3.5", group=False, device="cpu")

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(type(site.model), "forward", full)
    with pytest.raises(UsageError, match="out of memory"):
        compare(site, Plan(traffic(DOCUMENTS, 2), RULES))


def test_a_layer_group_counts_as_often_as_in_its_profile(profile: Profile) -> None:
    subject = find_subject("qwen3.5-0.8b", group=True)
    site = Site(subject, examine("cpu"), open_site("toy-qwen3.5", group=False, device="cpu").model)
    assert site.scale == "one layer group"
    counted = replace(profile, model=replace(profile.model, scale="group x 6"))
    assert not isinstance(site.clock(profile), TimesClock)
    clock = site.clock(counted)
    assert isinstance(clock, TimesClock)
    assert TimesClock(CountingClock(), 6).seconds(lambda: None) == 6.0


def test_seconds_are_those_of_a_profile_that_was_measured_here(profile: Profile) -> None:
    site = open_site("toy-qwen3.5", group=False, device="cpu")
    here = replace(
        profile,
        hardware=replace(profile.hardware, name=site.machine.name),
        model=replace(profile.model, name="toy-qwen3.5", dtype="float32"),
    )
    clock = site.clock(here)
    assert isinstance(clock, SteadyClock)
    assert clock.unit_seconds == CostModel(here).prefill_seconds(0, REFERENCE_TOKENS)
    for other in (
        None,
        profile,
        replace(here, hardware=profile.hardware),
        replace(here, model=replace(here.model, dtype="bfloat16")),
        replace(here, model=replace(here.model, scale="group x 6")),
    ):
        assert site.unit_seconds(other) is None
    group = Site(find_subject("qwen3.5-0.8b", group=True), site.machine, site.model)
    scaled = replace(here.model, name="qwen3.5-0.8b", scale="group x 6")
    assert group.unit_seconds(replace(here, model=scaled)) == clock.unit_seconds / 6
