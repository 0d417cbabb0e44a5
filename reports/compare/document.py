"""The schema of `compare.json`, as `milepost report` demands it: all that a page is made of.

Fields with a default are those that earlier versions did not write.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from reports.compare.measures import measures_named
from reports.documents import Number, Share, Text, Whole
from reports.statistics import Method
from simulator.base.errors import UsageError

Place = dict[Text, Any]  # of JSON: what the grid varies
CAPACITY = "cache.capacity"


class StoredChange(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that differs."""

    key: Text
    a: Any
    b: Any


class StoredFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of A and of B; `resampled` and `count` say what its interval rests on."""

    place: Place
    measure: Text
    a: Number | None
    b: Number | None
    difference: Number | None
    low: Number | None
    high: Number | None
    resampled: Method | None
    count: Whole | None
    freedom: Annotated[float, msgspec.Meta(gt=0, le=1e15)] | None
    p_holm: Share | None

    def __post_init__(self) -> None:
        try:
            measures_named([self.measure], "measure")
        except UsageError as error:
            raise ValueError(str(error)) from None
        if not _is_capacity(self.place.get(CAPACITY)):
            raise ValueError(f"place: expected bytes as '{CAPACITY}'")
        if self.difference is None:
            return
        if self.resampled is None or self.count is None:
            raise ValueError("expected 'resampled' and 'count' beside a difference")
        if (self.low is None) != (self.high is None):
            raise ValueError("expected both ends of an interval, or none")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("expected 'low' up to 'high'")


class StoredMargins(msgspec.Struct, frozen=True, kw_only=True):
    """Within what figures are called tied: points of rates, a share of times."""

    points: Annotated[float, msgspec.Meta(ge=0, le=100)]
    times: Share


class BothTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that were not saved, in A and in B."""

    a: Whole
    b: Whole


class StoredComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file; `failed` are lines of changes beyond a limit."""

    schema_version: int
    milepost_version: Text
    command: Text
    kind: Literal["run", "sweep"]
    a: Text
    b: Text
    paired: bool
    changes: tuple[StoredChange, ...]
    comparisons: tuple[StoredFigure, ...]
    requests: dict[Text, Whole]
    lost_tokens: dict[Text, BothTokens]
    notes: tuple[Text, ...]
    margins: StoredMargins | None = None
    failed: tuple[Text, ...]


def _is_capacity(value: Any) -> bool:
    """Whether a place names no capacity, or one in bytes."""
    return value is None or (type(value) in {int, float} and 0 <= value < 1 << 62)
