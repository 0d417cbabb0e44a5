"""The answer of `milepost capacity`, as `capacity.json` has it.

A search builds these structs, pages read them, and a stored answer is checked against them. Fields
with a default are those that earlier versions did not write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from reports.capacity.price import Prices
from reports.capacity.target import Target, metric_named
from reports.documents import Amount, Count, Number, Share, Text, Whole, read_document
from reports.results.metrics import load_of_row
from reports.statistics import Method
from simulator.base.errors import UsageError

SCHEMA_VERSION = 1
JSON = "capacity.json"

ProfileKind = Literal["measured", "composed", "analytic", "toy", "sizes"]
Limit = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=10_000)]


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A capacity that was tried, with means over its replications."""

    capacity_bytes: Count
    value: Amount | None
    may_meet: bool
    meets: bool
    surely_meets: bool
    dollars_per_million_tokens: Amount | None
    token_hit_rate: Share | None
    ttft_mean_seconds: Amount | None
    ttft_p99_seconds: Amount | None
    cache_peak_bytes: Amount | None
    offered_load: Amount | None = None
    offered_load_nothing_saved: Amount | None = None
    offered_load_last_half: Amount | None = None
    server_utilisation: Amount | None = None
    wait_last_quarter_seconds: Amount | None = None
    queue_grows: bool = False
    extrapolated_requests: Amount
    requests_not_served: Amount

    @property
    def load(self) -> dict[str, Any]:
        """The load of the server, under the names of a run's summary."""
        return load_of_row(lambda name: getattr(self, name))


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """Results of a cache that keeps everything: the bound of the target's metric."""

    value: Amount | None
    meets: bool
    offered_load: Amount | None = None
    offered_load_nothing_saved: Amount | None = None
    offered_load_last_half: Amount | None = None
    server_utilisation: Amount | None = None
    wait_last_quarter_seconds: Amount | None = None


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """A capacity, and up to which price of memory it is the cheapest."""

    capacity_bytes: Count
    dollars_per_gib_hour: Number | None


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The capacity at which memory stops paying: the cheapest, and at which prices it stays so."""

    capacity_bytes: Count
    dollars_per_million_tokens: Amount
    smaller_above_dollars: Amount | None
    larger_below_dollars: Amount | None
    dollars_per_gib_hour: Amount
    worth: tuple[Worth, ...]


class PoolUse(msgspec.Struct, frozen=True, kw_only=True):
    """One of the pools of a split cache, at the answer."""

    capacity_bytes: Amount
    peak_bytes: Amount


class Pools(msgspec.Struct, frozen=True, kw_only=True):
    """The two pools of a split cache: KV and states."""

    kv: PoolUse
    states: PoolUse


class Answer(msgspec.Struct, kw_only=True):
    """The answer for a candidate or a variation.

    The last three are set when all searches have ended: where no capacity meets the target, the
    trial nearest to it, the bound, and whether memory can help at all.
    """

    name: Text
    marks: Texts
    placer: Text
    eviction: Text
    admission: Text
    profile: Text
    error: Text | None
    capacity_bytes: Count | None
    low_bytes: Whole | None
    high_bytes: Count | None
    missed_below_bytes: Whole | None
    value: Amount | None
    method: Method | None
    halved: bool
    uneven: bool
    missed_above_bytes: tuple[Count, ...]
    trials: tuple[Tried, ...]
    knee: Knee | None
    pools: Pools | None = None
    nearest: Tried | None = None
    bound: Bound | None = None
    memory_can_help: bool | None = None

    def __post_init__(self) -> None:
        if self.error is None and not self.trials:
            raise ValueError("expected a trial, or an error")
        if self.capacity_bytes is None:
            return
        if self.shown is None:
            raise ValueError("expected a trial of 'capacity_bytes'")
        if self.value is None:
            raise ValueError("expected a value beside 'capacity_bytes'")

    @property
    def label(self) -> str:
        """The name with its marks."""
        return f"{self.name} ({', '.join(self.marks)})" if self.marks else self.name

    @property
    def shown(self) -> Tried | None:
        """The trial at the answer, or the nearest to the target; None where a cell failed."""
        if self.capacity_bytes is None:
            return self.nearest
        return next((t for t in self.trials if t.capacity_bytes == self.capacity_bytes), None)


class Varied(msgspec.Struct, kw_only=True):
    """The answer under one variation of the study.

    Its note says what it rests on, or why it was not tried; the caution what is against the
    expectation.
    """

    name: Text
    note: Text
    answer: Answer | None
    caution: Text | None = None


class AskedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The target, with its name and in words."""

    metric: Text
    title: Text
    limit: Limit
    text: Text

    def __post_init__(self) -> None:
        try:
            metric_named(self.metric)
        except UsageError as error:
            raise ValueError(str(error)) from None


class ReplayedTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The trace that was replayed."""

    name: Text
    requests: Whole
    prompt_tokens: Whole
    granularity: Count
    sha256: Text | None
    notes: Texts


class UsedProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The basis of times; `lossy` is what each profile keeps of KV or states, in words."""

    id: Text
    kind: ProfileKind
    lossy: dict[str, Text] | None = None


class CapacityResult(msgspec.Struct, frozen=True, kw_only=True):
    """All answers of a search, and what a reader needs to judge and repeat them."""

    schema_version: int
    kind: Literal["capacity"] = "capacity"
    title: Text
    command: Text
    milepost_version: Text
    study: dict[str, Any]
    target: AskedTarget
    within: Share
    prices: Prices | None
    replications: Count
    draws: bool
    warmup_share: Share
    trace: ReplayedTrace
    profile: UsedProfile
    warnings: Texts
    answers: Annotated[tuple[Answer, ...], msgspec.Meta(min_length=1)]
    best: Whole | None
    sensitivity: tuple[Varied, ...]
    cells: Whole

    def __post_init__(self) -> None:
        if not isinstance(self.study.get("server", {}), dict):
            raise ValueError("study.server: expected an object")
        if self.best is None:
            if self.sensitivity:
                raise ValueError("sensitivity: expected none where 'best' is null")
        elif self.best >= len(self.answers) or self.answers[self.best].capacity_bytes is None:
            raise ValueError("best: expected the number of an answer with a capacity")
        if len({answer.name for answer in self.answers}) < len(self.answers):
            raise ValueError("answers: expected different names")

    @property
    def goal(self) -> Target:
        """The target."""
        return Target(metric_named(self.target.metric), self.target.limit)

    @property
    def best_answer(self) -> Answer | None:
        """The best answer; None where no capacity meets the target."""
        return None if self.best is None else self.answers[self.best]

    @property
    def main(self) -> Answer | None:
        """The best answer, or that which came nearest, of a fair competitor if there is one.

        None where every cell failed.
        """
        goal, ranked = self.goal, []
        for number, answer in enumerate(self.answers):
            if answer.nearest is not None:
                ranked.append((bool(answer.marks), goal.rank(answer.nearest.value), number))
        return self.best_answer or (self.answers[min(ranked)[-1]] if ranked else None)

    @property
    def failed(self) -> list[Answer]:
        """Answers of candidates and variations that have an error."""
        varied = [item.answer for item in self.sensitivity if item.answer is not None]
        return [answer for answer in [*self.answers, *varied] if answer.error is not None]


def read_result(folder: Path) -> tuple[CapacityResult, dict[str, Any]]:
    """Return the result that a folder keeps, and all that its file holds, as plain values.

    Raises
    ------
    DataError
        When it is damaged or was written by a newer version.
    """
    return read_document(folder / JSON, CapacityResult, "an answer", SCHEMA_VERSION)
