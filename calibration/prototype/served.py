"""Served requests with simulated and measured times, and the file of a prototype run.

The dataclasses are the schema of `prototype.json`. Standard library only, since reports are made
from the file without torch.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from simulator.base.decode import Within, decode
from simulator.base.errors import DataError
from simulator.base.files import write_text
from simulator.base.json_file import read_json

Seconds = Annotated[float, Within(0.0, 1e9)]
Positive = Annotated[float, Within(1e-9, 1e9)]
Tokens = Annotated[int, Within(0, 2**40)]
Count = Annotated[int, Within(0, 2**40)]


@dataclass(frozen=True, slots=True)
class Priced:
    """Simulated times of a request in seconds: restoring a state, prefill, storing states.

    `capture` includes the cost of cutting the pass to store states inside it.
    """

    restore: Seconds
    prefill: Seconds
    capture: Seconds

    @property
    def service(self) -> float:
        """Total service time in seconds."""
        return self.restore + self.prefill + self.capture


@dataclass(frozen=True, slots=True)
class Served:
    """A request served by a real model, with simulated and measured times.

    Parameters
    ----------
    request
        Index in the trace.
    arrival_seconds
        Arrival time.
    prompt_tokens, overlap_tokens, saved_tokens
        Length of the prompt, of its longest prefix seen before, and of the part reused.
    positions
        Ascending positions of states stored during prefill; those before the prompt's end cut the
        pass.
    priced
        Simulated service times.
    passes_seconds
        Measured service time in every pass over the trace.
    measured_seconds
        Their median or minimum.
    simulated_wait_seconds, measured_wait_seconds
        Waiting times in a queue with simulated and with measured service times.
    """

    request: Count
    arrival_seconds: Seconds
    prompt_tokens: Tokens
    overlap_tokens: Tokens
    saved_tokens: Tokens
    positions: tuple[Tokens, ...]
    priced: Priced
    passes_seconds: tuple[Positive, ...]
    measured_seconds: Positive
    simulated_wait_seconds: Seconds = 0.0
    measured_wait_seconds: Seconds = 0.0

    @property
    def cuts(self) -> int:
        """Number of states stored inside the pass, each of which cuts it."""
        return sum(position < self.prompt_tokens for position in self.positions)

    @property
    def computed_tokens(self) -> int:
        """Prompt tokens that were computed rather than reused."""
        return self.prompt_tokens - self.saved_tokens

    @property
    def simulated_ttft_seconds(self) -> float:
        """Simulated time to first token."""
        return self.simulated_wait_seconds + self.priced.service

    @property
    def measured_ttft_seconds(self) -> float:
        """Measured time to first token, in a queue with measured service times."""
        return self.measured_wait_seconds + self.measured_seconds


@dataclass(frozen=True, slots=True)
class Sameness:
    """Difference of logits between resumed requests and uninterrupted prefills.

    Parameters
    ----------
    checked, resumed
        Number of requests that were compared, and that resumed.
    max_abs
        Largest absolute difference of a logit.
    """

    checked: Count
    resumed: Count
    max_abs: Annotated[float, Within(0.0, 1e30)]


@dataclass(frozen=True, slots=True)
class Pass:
    """The results of serving a trace once.

    Parameters
    ----------
    requests
        In trace order.
    state_bytes
        Bytes of one state tensor; 0 if none is stored at the end.
    sameness
        Difference between resumed and uninterrupted prefills, if compared.
    """

    requests: tuple[Served, ...]
    state_bytes: Count
    sameness: Sameness | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A description of a prototype run for the report.

    Parameters
    ----------
    model, scale, dtype, device, software
        What was built, and where it ran.
    clock
        How times were measured.
    profile, profile_model, profile_kind, profile_source
        The profile of the simulated times.
    trace, placer, eviction, admission, capacity
        The workload and the cache.
    """

    model: str
    scale: str
    dtype: str
    device: str
    software: str
    clock: str
    profile: str
    profile_model: str
    profile_kind: str
    profile_source: str
    trace: str
    placer: str
    eviction: str
    admission: str
    capacity: str


@dataclass(frozen=True, slots=True)
class PrototypeRun:
    """The content of the file of a prototype run.

    Parameters
    ----------
    schema_version
        Version of the file format.
    setting
        Description of the run.
    requests
        In trace order.
    sameness
        Difference between resumed and uninterrupted prefills.
    state_bytes, profile_state_bytes
        Bytes of one state: of the real tensors (0 if none was stored), and in the profile.
    extrapolated_requests
        Number of requests beyond the measured range of the profile.
    """

    schema_version: Literal[1]
    setting: Setting
    requests: tuple[Served, ...]
    sameness: Sameness
    state_bytes: Count
    profile_state_bytes: Count
    extrapolated_requests: Count


def write_run(path: Path, run: PrototypeRun) -> None:
    """Write the file of a prototype run atomically."""
    write_text(path, json.dumps(asdict(run), indent=1) + "\n")


def read_run(path: Path) -> PrototypeRun:
    """Read the file of a prototype run.

    Raises
    ------
    DataError
        If the file cannot be read or is invalid.
    """
    run = decode(PrototypeRun, read_json(path, "a prototype run"), str(path))
    if not run.requests:
        raise DataError(str(path), "expected at least one request", field="requests")
    return run
