"""The schema of `capacity.json`, as `milepost report` demands it: all that a page is made of.

Fields with a default are those that earlier versions did not write.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from reports.capacity.target import metric_named
from reports.documents import Amount, Count, Number, Share, Text, Whole
from reports.statistics import Method
from simulator.base.errors import UsageError

ProfileKind = Literal["measured", "composed", "analytic", "toy"]
Limit = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
Lists = Annotated[tuple[Text, ...], msgspec.Meta(max_length=10_000)]


class StoredLoad(msgspec.Struct, frozen=True, kw_only=True):
    """The work that a server had."""

    offered_load: Amount | None = None
    offered_load_nothing_saved: Amount | None = None
    offered_load_last_half: Amount | None = None
    server_utilisation: Amount | None = None
    wait_last_quarter_seconds: Amount | None = None


class StoredTrial(StoredLoad, frozen=True, kw_only=True):
    """A capacity that was tried."""

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
    queue_grows: bool = False
    extrapolated_requests: Amount
    requests_not_served: Amount


class Bound(StoredLoad, frozen=True, kw_only=True):
    """The value that a cache that keeps everything would give."""

    value: Amount | None
    meets: bool


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """Up to which price of memory a capacity is the cheapest."""

    capacity_bytes: Count
    dollars_per_gib_hour: Number | None


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The capacity at which memory stops paying."""

    capacity_bytes: Count
    dollars_per_million_tokens: Amount
    smaller_above_dollars: Amount | None
    larger_below_dollars: Amount | None
    dollars_per_gib_hour: Amount
    worth: tuple[Worth, ...]


class StoredPool(msgspec.Struct, frozen=True, kw_only=True):
    """One of the pools of a split cache, at the answer."""

    capacity_bytes: Amount
    peak_bytes: Amount


class Pools(msgspec.Struct, frozen=True, kw_only=True):
    """Both of them."""

    kv: StoredPool
    states: StoredPool


class StoredAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a candidate or a variation."""

    name: Text
    marks: Lists
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
    trials: tuple[StoredTrial, ...]
    knee: Knee | None
    pools: Pools | None = None
    nearest: StoredTrial | None = None
    bound: Bound | None = None
    memory_can_help: bool | None = None

    def __post_init__(self) -> None:
        tried = {trial.capacity_bytes: trial for trial in self.trials}
        if self.error is None and not tried:
            raise ValueError("expected a trial, or an error")
        if self.capacity_bytes is None:
            return
        if self.capacity_bytes not in tried:
            raise ValueError("expected a trial of 'capacity_bytes'")
        if self.value is None:
            raise ValueError("expected a value beside 'capacity_bytes'")


class StoredVariation(msgspec.Struct, frozen=True, kw_only=True):
    """The answer when one thing is different; None where it was not tried."""

    name: Text
    note: Text
    answer: StoredAnswer | None
    caution: Text | None = None


class StoredTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The target."""

    metric: Text
    title: Text
    limit: Limit
    text: Text

    def __post_init__(self) -> None:
        try:
            metric_named(self.metric)
        except UsageError as error:
            raise ValueError(str(error)) from None


class StoredPrices(msgspec.Struct, frozen=True, kw_only=True):
    """Of memory and of the GPU."""

    dollars_per_gib_hour: Amount
    dollars_per_gpu_hour: Amount


class StoredTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The trace that was replayed."""

    name: Text
    requests: Whole
    prompt_tokens: Whole
    granularity: Count
    sha256: Text | None
    notes: Lists


class StoredProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The basis of times; `lossy` is what each profile keeps of KV or states, in words."""

    id: Text
    kind: ProfileKind
    lossy: dict[str, Text] | None = None


class StoredStudy(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that the page looks at; all of the study is shown as it is."""

    server: dict[str, Any] = {}


class StoredCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    schema_version: int
    title: Text
    command: Text
    milepost_version: Text
    study: StoredStudy
    target: StoredTarget
    within: Share
    prices: StoredPrices | None
    replications: Count
    draws: bool
    warmup_share: Share
    trace: StoredTrace
    profile: StoredProfile
    warnings: Lists
    answers: Annotated[tuple[StoredAnswer, ...], msgspec.Meta(min_length=1)]
    best: Whole | None
    sensitivity: tuple[StoredVariation, ...]
    cells: Whole

    def __post_init__(self) -> None:
        if self.best is None:
            if self.sensitivity:
                raise ValueError("sensitivity: expected none where 'best' is null")
        elif self.best >= len(self.answers) or self.answers[self.best].capacity_bytes is None:
            raise ValueError("best: expected the number of an answer with a capacity")
        if len({answer.name for answer in self.answers}) < len(self.answers):
            raise ValueError("answers: expected different names")
