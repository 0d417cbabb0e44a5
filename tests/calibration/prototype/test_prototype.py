"""The prototype itself: it does what the simulator says, with tensors that are the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibration.prototype.rules import Rules
from policies.admission import Always
from policies.eviction import EVICTION
from policies.placement import Block
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.cache.integrity import IntegrityError
from simulator.costs.profile import Profile
from simulator.plugins.protocols import Prefix, Window
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from tests.calibration.prototype.conftest import DOCUMENTS, CountingClock, traffic
from tests.calibration.tiny import torch

from calibration.models.states import Snapshot  # isort: skip
from calibration.prototype.holdings import Holdings  # isort: skip
from calibration.prototype.run import InexactError, Prototype  # isort: skip

MIB = 2**20


class Fickle(Block):
    """Places elsewhere in every pass."""

    made = 0

    def __init__(self) -> None:
        super().__init__(size=64)
        Fickle.made += 1
        self._last = Fickle.made

    def place(self, prefix: Prefix, window: Window) -> list[int]:
        return [prefix.resume + self._last]


def rules(placer: str, capacity: int | None = None, eviction: str = "lru") -> Rules:
    return Rules(lambda: create("placer", placer), EVICTION[eviction], Always, capacity)


def prototype(
    model: Any, trace: Trace, profile: Profile, made: Rules, clock: Any = None
) -> Prototype:
    return Prototype(trace, profile, made, model, clock or CountingClock())


@pytest.mark.parametrize(
    ("kind", "placer", "capacity", "eviction"),
    [
        ("documents", "branch", None, "lru"),
        ("documents", "block:size=48", 6 * MIB, "lru"),
        ("chats", "last", 3 * MIB, "gdsf"),
        ("chats", "adaptive", 2 * MIB, "value"),
    ],
)
def test_it_does_what_the_simulator_simulates(
    model: Any,
    profile: Profile,
    request: pytest.FixtureRequest,
    kind: str,
    placer: str,
    capacity: int | None,
    eviction: str,
) -> None:
    trace: Trace = request.getfixturevalue(kind)
    times = np.floor(np.linspace(0, 3, len(trace)) * 4) / 4  # several at one instant
    trace = trace.with_arrivals(times)
    served = prototype(model, trace, profile, rules(placer, capacity, eviction))
    served.serve()  # compares logits and recounts tensors by itself
    found = served.outcome()
    one = rules(placer, capacity, eviction)
    simulated = simulate(
        trace, Scenario(profile, one.placer, one.eviction, one.admission, capacity)
    )
    columns, done = simulated.columns, served.records.columns()
    assert {name: column.tobytes() for name, column in done.items()} == {
        name: column.tobytes() for name, column in columns.items()
    }
    assert np.array_equal(served.records.positions(), simulated.positions)
    for name, said in {
        "prompt_tokens": [r.prompt_tokens for r in found.served],
        "saved_tokens": [r.saved_tokens for r in found.served],
        "overlap_tokens": [r.overlap_tokens for r in found.served],
        "arrival_seconds": [r.arrival_seconds for r in found.served],
        "wait_seconds": [r.simulated_wait_seconds for r in found.served],
        "restore_seconds": [r.priced.restore for r in found.served],
        "prefill_seconds": [r.priced.prefill for r in found.served],
        "capture_seconds": [r.priced.capture for r in found.served],
        "ttft_seconds": [r.simulated_ttft_seconds for r in found.served],
    }.items():
        assert said == pytest.approx(columns[name], abs=1e-9), name
    assert found.sameness.resumed == sum(columns["saved_tokens"] > 0) > 0
    assert found.sameness.checked == -(-found.sameness.resumed // 4)
    assert found.sameness.max_abs < 1e-5


def test_a_wrong_state_is_noticed(
    model: Any, documents: Trace, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Holdings.state

    def zeroed(self: Holdings, checkpoint: Any) -> Snapshot:
        found = right(self, checkpoint)
        return replace(found, tensors=tuple(map(torch.zeros_like, found.tensors)))

    monkeypatch.setattr(Holdings, "state", zeroed)
    with pytest.raises(InexactError, match="differs from its whole prefill"):
        prototype(model, documents, profile, rules("branch")).serve()


def test_tensors_that_the_cache_does_not_count_are_noticed(
    model: Any, documents: Trace, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Holdings, "_let_go", lambda _: None)
    with pytest.raises(IntegrityError, match="the prototype holds KV"):
        prototype(model, documents, profile, rules("last", MIB)).serve()


@pytest.mark.parametrize(("typical", "counts"), [("minimum", 1.0), ("median", 5.0)])
def test_of_several_passes_one_time_counts(
    model: Any, profile: Profile, typical: str, counts: float
) -> None:
    few = traffic(DOCUMENTS, 4)
    served = prototype(model, few, profile, rules("branch"), CountingClock(typical))
    for _ in range(3):
        served.serve()
    first = served.outcome().served[0]
    assert first.passes_seconds == (1.0, 5.0, 9.0)
    assert first.measured_seconds == counts


def test_policies_that_decide_otherwise_again_are_refused(model: Any, profile: Profile) -> None:
    fickle = replace(rules("branch"), placer=Fickle)
    served = prototype(model, traffic(DOCUMENTS, 4), profile, fickle)
    served.serve()
    served.serve()
    with pytest.raises(UsageError, match="decide otherwise"):
        served.outcome()


def test_what_cannot_be_served_is_refused(model: Any, documents: Trace, profile: Profile) -> None:
    with pytest.raises(UsageError, match="holds a state everywhere for free"):
        prototype(model, documents, profile, rules("dense"))
    with pytest.raises(UsageError, match="no arrival times"):
        prototype(model, replace(documents, arrival_seconds=None), profile, rules("last"))
