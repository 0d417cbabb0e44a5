"""The knobs of the built-in workload."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from simulator.base.bounds import MAX_REQUESTS
from simulator.base.errors import UsageError
from simulator.trace.trace import Trace
from workloads.arrivals import ArrivalProcess, check_rate
from workloads.drift import Drift
from workloads.randomness import stream
from workloads.synthetic.generator import check_requests

_INTEGER_LIMITS = {
    "requests": (1, MAX_REQUESTS),
    "documents": (1, 10**6),
    "system_prompts": (1, 10**6),
    "document_tokens_median": (64, 10**6),
}
_NUMBER_LIMITS = {
    "drift": (0.0, 1.0),
    "question_weight": (0.0, 1e6),
    "system_weight": (0.0, 1e6),
    "chat_weight": (0.0, 1e6),
    "zipf_exponent": (0.0, 4.0),
    "turns_mean": (1.0, 64.0),
    "think_seconds_median": (0.001, 1e5),
}
LIMITS: dict[str, tuple[float, float]] = {**_NUMBER_LIMITS, **_INTEGER_LIMITS}


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """Questions about shared documents, system prompts and chats in one: the built-in workload.

    Contents change by a law of drift of its own; when requests come does not depend on it.

    Parameters
    ----------
    drift
        0 is stationary; see `workloads.synthetic.builtin.contents` for the law.
    question_weight, system_weight, chat_weight
        Shares of the requests, on any scale. That of chats falls somewhat short (0.26 instead of
        0.3 by default): long ones are cut, and some are still going on when the trace ends.
    documents, system_prompts
        How many are in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent.
    document_tokens_median
        Lengths are lognormal (sigma 0.4), cut to half and double the median.
    turns_mean
        Turns of a chat: geometric, cut where the prompt would exceed 8,192 tokens.
    think_seconds_median
        Between an answer and the next turn of a chat: lognormal (sigma 0.8).

    Raises
    ------
    UsageError
        For a field that is not finite or out of range.
    """

    drifts: ClassVar[tuple[str, ...]] = ()

    drift: float = 0.0
    question_weight: float = 0.4
    system_weight: float = 0.3
    chat_weight: float = 0.3
    documents: int = 150
    system_prompts: int = 24
    zipf_exponent: float = 0.9
    document_tokens_median: int = 8000
    turns_mean: float = 5.0
    think_seconds_median: float = 20.0

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))
        if not self.question_weight + self.system_weight + self.chat_weight > 0:
            raise UsageError("synthetic: expected at least one weight above 0")

    def trace(self, requests: int, seed: int, arrivals: ArrivalProcess, drift: Drift) -> Trace:
        """Return the workload as a trace of single tokens; the labels are the kinds of traffic.

        Raises
        ------
        UsageError
            For a drift beside its own, or what `generate` refuses.
        """
        from workloads.synthetic.builtin import assemble

        if drift != Drift():
            raise UsageError("the generator 'builtin' has a knob 'drift' and takes no other drift")
        check_requests(requests)
        return assemble(self, requests, seed, arrivals)


@dataclass(frozen=True, slots=True)
class SyntheticSpec(BuiltIn):
    """The built-in workload with all that makes one trace of it.

    All of one seed is the same traffic; `drift` changes which document or system prompt a
    request is about, never when it comes.

    Parameters
    ----------
    requests
        How many there are.
    rate_per_second
        Rate of requests. Single requests and first turns of chats are a Poisson process; later
        turns follow their chats, so that the first minutes are quieter.
    seed
        Of all random streams.
    """

    requests: int = 4000
    rate_per_second: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        BuiltIn.__post_init__(self)
        check_rate(self.rate_per_second)
        stream(self.seed, "arrivals")


def _check(name: str, value: float) -> None:
    whole = name in _INTEGER_LIMITS
    limits = _INTEGER_LIMITS.get(name) or _NUMBER_LIMITS.get(name)
    if limits is None:
        return
    kind: type | tuple[type, ...] = int if whole else (int, float)
    sound = isinstance(value, kind) and not isinstance(value, bool)
    if not sound or not limits[0] <= value <= limits[1]:
        what = "an integer" if whole else "a number"
        expected = f"{what} from {limits[0]:,} to {limits[1]:,}"
        raise UsageError(f"synthetic.{name}: expected {expected}, found {value!r}")
