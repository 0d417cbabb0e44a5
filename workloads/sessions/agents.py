"""Sessions of coding agents in the format of kv-cache-tester, flattened into checked requests."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import msgspec
import numpy as np

from workloads.prefixes.id_ranges import MAX_ID
from workloads.reading.fields import (
    MISSING,
    Problem,
    output_problem,
    prompt_problem,
    short,
    time_problem,
)

SUBAGENT = "subagent"

Name = Annotated[str, msgspec.Meta(max_length=200)]


class AgentRequest(
    msgspec.Struct, gc=False, rename={"prompt_tokens": "in", "output_tokens": "out"}
):
    """A request, or a sub-agent with requests of its own; times are in seconds."""

    t: Decimal
    type: Name | None = None
    prompt_tokens: int | None = None
    output_tokens: int = 0
    hash_ids: list[int] | None = None
    ranges: list[tuple[int, int]] | None = None
    subagent: int = 0
    model: Name | None = None
    requests: list[AgentRequest] | None = None


class AgentSession(msgspec.Struct, gc=False):
    """A session of requests."""

    requests: list[AgentRequest]
    block_size: int | None = None
    hash_id_scope: Name = "local"


class SessionError(Exception):
    """Raised for an invalid session; carries the field at fault and what is wrong."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(field, what)
        self.problem: Problem = field, what


@dataclass(frozen=True, slots=True)
class Checked:
    """A request of a session or of one of its sub-agents, after its fields were checked.

    Parameters
    ----------
    time
        The time as in the file.
    above
        The sum of the times of all sub-agents around the request; None without any.
    early
        Whether it is earlier than the sub-agent around it, so that its time must be relative.
    first, count
        Ranges of consecutive ids: first ids and lengths.
    model
        Name of the model, None if unknown.
    """

    time: Decimal
    prompt_tokens: int
    output_tokens: int
    subagent: bool
    above: Decimal | None
    early: bool
    first: array[int]
    count: array[int]
    model: str | None


def flatten(session: AgentSession, block: int, ticks_per_second: float) -> list[Checked]:
    """Return the requests of a session and its sub-agents in the order of the document.

    Raises
    ------
    SessionError
        For the first invalid field.
    """
    return list(_flatten(session.requests, "requests", block, ticks_per_second, None, Decimal(0)))


def _flatten(
    requests: list[AgentRequest],
    place: str,
    block: int,
    ticks_per_second: float,
    marker: Decimal | None,
    above: Decimal,
) -> Iterator[Checked]:
    for at, request in enumerate(requests):
        here = f"{place}[{at}]"
        _require(time_problem("t", request.t, ticks_per_second), here)
        if request.requests is not None or request.type == SUBAGENT:
            inner = request.requests or []
            below = f"{here}.requests"
            yield from _flatten(inner, below, block, ticks_per_second, request.t, above + request.t)
            continue
        length, first, count = _checked(request, here, block)
        yield Checked(
            time=request.t,
            prompt_tokens=length,
            output_tokens=request.output_tokens,
            subagent=marker is not None or request.subagent != 0,
            above=None if marker is None else above,
            early=marker is not None and request.t < marker,
            first=first,
            count=count,
            model=request.model,
        )


def _checked(request: AgentRequest, here: str, block: int) -> tuple[int, array[int], array[int]]:
    """Return the length of a prompt and the ranges of its block ids, after checking both."""
    length = request.prompt_tokens
    if length is None:
        raise SessionError(f"{here}.in", MISSING)
    _require(None if length == 0 else prompt_problem("in", length), here)
    _require(output_problem("out", request.output_tokens), here)
    first, count = _ranges(request, here)
    blocks, ids = -(-length // block), sum(count)
    if ids > blocks:
        field = "ranges" if request.hash_ids is None else "hash_ids"
        fit = f"at most {blocks} for {length} tokens in blocks of {block}"
        raise SessionError(f"{here}.{field}", f"expected {fit}, found {ids} ids")
    return length, first, count


def _require(problem: Problem | None, here: str) -> None:
    if problem is not None:
        raise SessionError(f"{here}.{problem[0]}", problem[1])


def _ranges(request: AgentRequest, here: str) -> tuple[array[int], array[int]]:
    """Return the first id and the length of each range of a request's ids."""
    if request.hash_ids is not None:
        return _runs(request.hash_ids, here)
    first, count = array("q"), array("q")
    for at, (start, length) in enumerate(request.ranges or []):
        if not (0 <= start <= MAX_ID and 1 <= length <= MAX_ID + 1 - start):
            what = f"expected the first of at least 1 id from 0 to 2**62 - 1, found {short(start)}"
            raise SessionError(f"{here}.ranges[{at}]", f"{what}, {short(length)}")
        first.append(start)
        count.append(length)
    return first, count


def _runs(ids: list[int], here: str) -> tuple[array[int], array[int]]:
    """Return a list of ids as ranges."""
    try:
        column = np.array(ids, dtype=np.int64)
    except OverflowError:
        column = np.array([-1])
    if len(column) and (column.min() < 0 or column.max() > MAX_ID):
        at, wrong = next((at, key) for at, key in enumerate(ids) if not 0 <= key <= MAX_ID)
        what = f"expected an integer from 0 to 2**62 - 1, found {short(wrong)}"
        raise SessionError(f"{here}.hash_ids[{at}]", what)
    starts = np.flatnonzero(np.diff(column, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(column))
    return array("q", column[starts].tobytes()), array("q", lengths.tobytes())
