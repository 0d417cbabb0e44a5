"""What is known of a served request, simulated and measured, and the file of a run.

The dataclasses are the schema of `prototype.json`. Standard library only: a page is made from it
where there is no torch.
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
    """What the cost model says of a request, in seconds; `capture` includes cutting the pass."""

    restore: Seconds
    prefill: Seconds
    capture: Seconds

    @property
    def service(self) -> float:
        """All of it."""
        return self.restore + self.prefill + self.capture


@dataclass(frozen=True, slots=True)
class Served:
    """A request.

    Parameters
    ----------
    request
        Its place in the trace.
    prompt_tokens, overlap_tokens, saved_tokens
        Its prompt, what had been seen of it, and before which token it resumed.
    positions
        Of the states captured in its prefill, ascending; those before its end cut the pass.
    priced
        Its simulated service.
    passes_seconds
        Its measured service in every pass over the trace.
    measured_seconds
        What counts of them: the median, or the least.
    simulated_wait_seconds, measured_wait_seconds
        In the queue, behind either services.
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
        """States captured inside the pass: each cuts it."""
        return sum(position < self.prompt_tokens for position in self.positions)

    @property
    def computed_tokens(self) -> int:
        """Prompt tokens that were run through the model."""
        return self.prompt_tokens - self.saved_tokens

    @property
    def simulated_ttft_seconds(self) -> float:
        """Simulated time to first token."""
        return self.simulated_wait_seconds + self.priced.service

    @property
    def measured_ttft_seconds(self) -> float:
        """Measured time to first token, waiting behind measured services."""
        return self.measured_wait_seconds + self.measured_seconds


@dataclass(frozen=True, slots=True)
class Sameness:
    """How far the logits of resumed requests lie from those of a whole prefill.

    Parameters
    ----------
    checked, resumed
        Requests that were compared, of those that resumed.
    max_abs
        The largest difference of a logit.
    """

    checked: Count
    resumed: Count
    max_abs: Annotated[float, Within(0.0, 1e30)]


@dataclass(frozen=True, slots=True)
class Pass:
    """A trace that was served once.

    Parameters
    ----------
    requests
        In the order of the trace.
    state_bytes
        Of one state, as the tensors have it; 0 where none was held at the end.
    sameness
        Of resumed and whole prefills, where they were compared.
    """

    requests: tuple[Served, ...]
    state_bytes: Count
    sameness: Sameness | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What was run: words for the page.

    Parameters
    ----------
    model, scale, dtype, device, software
        What was built and where it ran.
    clock
        What a second is.
    profile, profile_model, profile_kind, profile_source
        Of the simulated times.
    trace, placer, eviction, admission, capacity
        What was served, and through which cache.
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
    """A trace that was served.

    Parameters
    ----------
    setting
        What was run.
    requests
        In the order of the trace.
    sameness
        Of resumed and whole prefills.
    state_bytes, profile_state_bytes
        Of one state: the real tensors, and what the cache counts; 0 where none was stored.
    extrapolated_requests
        Beyond the measured range of the profile.
    """

    schema_version: Literal[1]
    setting: Setting
    requests: tuple[Served, ...]
    sameness: Sameness
    state_bytes: Count
    profile_state_bytes: Count
    extrapolated_requests: Count


def write_run(path: Path, run: PrototypeRun) -> None:
    """Write the file of a run; whole, or not at all."""
    write_text(path, json.dumps(asdict(run), indent=1) + "\n")


def read_run(path: Path) -> PrototypeRun:
    """Return the run in a file.

    Raises
    ------
    DataError
        If the file cannot be read or is not a run.
    """
    run = decode(PrototypeRun, read_json(path, "a prototype run"), str(path))
    if not run.requests:
        raise DataError(str(path), "expected at least one request", field="requests")
    return run
