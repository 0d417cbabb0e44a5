"""The sections of a study file, each number bounded and finite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from reports.study.generated import (
    shown,
)
from reports.study.settings import replace_path, replace_profile_path, replace_text_file
from reports.study.workload_grid import absolute_traces
from simulator.errors import MilepostError, UsageError
from simulator.units import parse_capacity, parse_seconds, parse_share

GRID_SECTIONS = ("workload", "arrivals", "model", "cache", "server", "policy")
DEFAULT_RATE = 1.0
AUTO = "auto"  # warm-up by MSER-5
READ_OPTIONS = (
    "block",
    "time_unit",
    "rows",
    "tokenizer",
    "template",
    "jitter",
    "session_rate",
    "seed",
)
NOT_IN_GRID = (
    "workload.builtin",
    "workload.block",
    "workload.format",
    "model.draws",
)


def parse_warmup(value: str) -> str:
    """Return "auto"; any other text is no warm-up."""
    if value != AUTO:
        raise UsageError(f"expected a share to 0.9 or '{AUTO}', found {shown(value)}")
    return value


def _reading(parse: Callable[[Any], Any], kinds: tuple[type, ...]) -> BeforeValidator:
    """Return a validator that parses, and whose errors pydantic gives a place."""

    def read(value: Any) -> Any:
        if value is None or not isinstance(value, kinds):
            return value
        try:
            return parse(value)
        except MilepostError as error:
            raise ValueError(str(error)) from error

    return BeforeValidator(read)


Seconds = Annotated[float, _reading(parse_seconds, (str,)), Field(gt=0, le=1e9)]
Capacity = Annotated[int | None, _reading(parse_capacity, (object,))]
Share = Annotated[float, _reading(parse_share, (str,)), Field(gt=0, lt=1)]
Warmup = Annotated[
    Annotated[float, Field(ge=0, le=0.9)] | Literal["auto"], _reading(parse_warmup, (str,))
]
Spec = Annotated[str, Field(min_length=1, max_length=500)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Workload(_Section):
    """Where the requests come from: a trace file, a generator, or the built-in workload."""

    trace: Annotated[str, Field(min_length=1)] | None = None
    builtin: bool | None = None
    block: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    format: str | None = None
    on_bad_line: Literal["fail", "skip"] = "fail"
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    rows: Literal["cumulative", "incremental", "conversation"] | None = None
    tokenizer: Spec | None = None
    template: Spec | None = None
    jitter: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    session_rate: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    generator: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    knobs: dict[str, Any] = {}

    def read_options(self) -> dict[str, Any]:
        """Return what `workloads.opening.open_trace` is to be told of the file."""
        names = {"on_bad_line", *READ_OPTIONS}
        return self.model_dump(include=names, exclude_none=True)


class Arrivals(_Section):
    """When requests come, of generated workloads and of traces without times."""

    rate: Annotated[float, Field(gt=0, le=1e6)] | None = None
    process: Spec | None = None


class Model(_Section):
    """The cost profile, and the alignment of checkpoints where it differs from the profile's.

    With `draws` each replication has another draw of the profile's fitted coefficients.
    """

    profile: Spec = "qwen3.5-9b-h200"
    alignment: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    draws: bool = False


class Cache(_Section):
    """The byte budget of KV and checkpoints, None being unbounded; what evicted KV gives up."""

    capacity: Capacity = None
    evicts: Literal["tail", "block", "run"] = "tail"


class Server(_Section):
    """How requests are served."""

    kind: Literal["queue", "instant"] = "queue"
    queue_limit: Annotated[int, Field(ge=0, le=10**9)] | None = None
    horizon: Seconds | None = None


class Policy(_Section):
    """One policy string of each kind."""

    placer: Spec = "adaptive"
    eviction: Spec = "lru"
    admission: Spec = "always"


class Evidence(_Section):
    """The `[study]` section: seed, replications, baseline, warm-up share.

    The warm-up is "auto" where MSER-5 is to find it. With `until_ci` replications are added, up
    to `max_replications`, until the intervals are within this share of what they are about.
    """

    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    replications: Annotated[int, Field(ge=1, le=1000)] = 1
    until_ci: Share | None = None
    max_replications: Annotated[int, Field(ge=2, le=1000)] | None = None
    baseline: Spec | None = None
    warmup: Warmup = 0.0

    @property
    def warmup_share(self) -> float:
        """The share of the requests that does not count.

        Raises UsageError where it is "auto", which only sweeps and runs can find out.
        """
        if self.warmup == "auto":
            raise UsageError(
                "study.warmup = 'auto' is for `milepost sweep` and `run`; state a share here"
            )
        return self.warmup


class Study(_Section):
    """A whole study file, resolved."""

    title: Annotated[str, Field(max_length=200)] = ""
    workload: Workload = Workload()
    arrivals: Arrivals = Arrivals()
    model: Model = Model()
    cache: Cache = Cache()
    server: Server = Server()
    policy: Policy = Policy()
    study: Evidence = Evidence()
    grid: dict[str, Annotated[list[Any], Field(min_length=1, max_length=1000)]] = {}

    def resolved(self) -> dict[str, Any]:
        """Return every setting as plain values that a study file may hold.

        What the grid varies stands there only, as the file could not be run again otherwise.
        """
        tables = self.model_dump(exclude_none=True)
        tables["workload"] |= tables["workload"].pop("knobs")
        tables["cache"]["capacity"] = (
            "unbounded" if self.cache.capacity is None else self.cache.capacity
        )
        for key in self.grid:
            section, _, name = key.partition(".")
            tables[section].pop(name, None)
        return {name: table for name, table in tables.items() if table != {}}

    def absolute(self) -> dict[str, Any]:
        """Return the same with paths that hold from any folder."""
        tables = self.resolved()
        if self.workload.trace is not None:
            tables["workload"]["trace"] = str(Path(self.workload.trace).resolve())
        for name in tables.get("workload", {}).keys() & {"tokenizer", "template"}:
            file = replace_text_file(tables["workload"][name], lambda path: Path(path).resolve())
            tables["workload"][name] = file
        if self.arrivals.process is not None and "process" in tables["arrivals"]:
            process = replace_path(self.arrivals.process, lambda path: str(Path(path).resolve()))
            tables["arrivals"]["process"] = process
        if "grid" in tables:
            tables["grid"] = {key: absolute_traces(key, v) for key, v in self.grid.items()}
        if "profile" in tables.get("model", {}):
            profile = replace_profile_path(self.model.profile, lambda path: Path(path).resolve())
            tables["model"]["profile"] = profile
        return tables
