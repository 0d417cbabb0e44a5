"""The study file: its sections, each number bounded and finite."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reports.study.generated import (
    MEMBER,
    as_knob,
    contradiction,
    generator_fields,
    mixture,
    refuse_bad_traffic,
    refuse_two_workloads,
    shown,
)
from reports.study.settings import Settings, replace_path, replace_profile_path
from reports.study.workload_grid import WORKLOADS, absolute_traces
from simulator.errors import MilepostError, UsageError, did_you_mean, printable
from simulator.units import parse_capacity, parse_seconds, parse_share

GRID_SECTIONS = ("workload", "arrivals", "model", "cache", "server", "policy")
DEFAULT_RATE = 1.0
AUTO = "auto"  # warm-up by MSER-5
_READ_OPTIONS = ("block", "time_unit", "rows", "tokenizer", "jitter", "session_rate", "seed")
_NOT_IN_GRID = (
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
    rows: Literal["cumulative", "incremental"] | None = None
    tokenizer: Spec | None = None
    jitter: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    session_rate: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    generator: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    knobs: dict[str, Any] = {}

    def read_options(self) -> dict[str, Any]:
        """Return what `workloads.opening.open_trace` is to be told of the file."""
        names = {"on_bad_line", *_READ_OPTIONS}
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
    evicts: Literal["tail", "run"] = "tail"


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
        if self.arrivals.process is not None and "process" in tables["arrivals"]:
            process = replace_path(self.arrivals.process, lambda path: str(Path(path).resolve()))
            tables["arrivals"]["process"] = process
        if "grid" in tables:
            tables["grid"] = {key: absolute_traces(key, v) for key, v in self.grid.items()}
        if "profile" in tables.get("model", {}):
            profile = replace_profile_path(self.model.profile, lambda path: Path(path).resolve())
            tables["model"]["profile"] = profile
        return tables


def parse_study(settings: Settings) -> Study:
    """Return the study that the settings describe.

    Raises
    ------
    UsageError
        For an unknown key ("did you mean"), or a value that is not what its key expects.
    """
    knobs = generator_fields()
    tables: dict[str, Any] = {"workload": {"knobs": {}}, "grid": {}}
    members = {}
    for key, value in settings.values.items():
        section, dot, name = key.partition(".")
        if key.startswith(MEMBER):
            members[key.removeprefix(MEMBER)] = value
            continue
        _refuse_unknown(settings, key, value, knobs)
        if not dot:
            if value != {}:
                tables[key] = value
        elif section == "workload" and name in knobs:
            tables["workload"]["knobs"][name] = as_knob(value, knobs[name])
        else:
            tables.setdefault(section, {})[name] = value
    if members:
        tables["workload"]["generator"] = mixture(settings, members)
    try:
        study = Study.model_validate(tables)
    except ValidationError as error:
        raise _first_problem(settings, error) from error
    _refuse_contradictions(settings, study)
    workload = study.workload
    refuse_bad_traffic(settings, workload.generator, workload.knobs, study.arrivals.process)
    return study


def known_keys(generator: Mapping[str, Any]) -> list[str]:
    """Return every dotted key of a study file, those of the grid excepted."""
    keys = ["title"]
    for section, field in Study.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys += [f"{section}.{name}" for name in kind.model_fields if name != "knobs"]
    return keys + [f"workload.{name}" for name in generator]


def grid_keys(generator: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys that a grid may vary."""
    known = known_keys(generator)
    inside = (key for key in known if key.partition(".")[0] in GRID_SECTIONS)
    return [WORKLOADS, *(key for key in inside if key not in _NOT_IN_GRID)]


def _refuse_unknown(settings: Settings, key: str, value: Any, generator: Mapping[str, Any]) -> None:
    if value == {} and key in Study.model_fields:
        return
    if key in Study.model_fields and key != "title":
        problem = f"'{key}' is a section, found {shown(value)}"
        raise UsageError(f"{settings.origin(key)}: {problem}")
    in_grid = key.startswith("grid.")
    known = grid_keys(generator) if in_grid else known_keys(generator)
    if key.removeprefix("grid.") in known:
        return
    hint = did_you_mean(key.removeprefix("grid."), known)
    place = "key of the grid" if in_grid else "key"
    name = printable(key.removeprefix("grid."))
    raise UsageError(f"{settings.origin(key)}: unknown {place} '{name}'{hint}")


def _first_problem(settings: Settings, error: ValidationError) -> UsageError:
    problem = error.errors()[0]
    parts = [str(part) for part in problem["loc"]]
    known = [key for key in settings.values if key.split(".") == parts[: len(key.split("."))]]
    grid = f"grid.{parts[1]}" if parts[0] == "grid" and len(parts) > 1 else ""
    key = grid or next(iter(known), ".".join(parts[:2]))
    told = problem["type"] == "value_error"  # by a parser of ours, which names what it found
    tail = "" if told else f", found {shown(problem['input'])}"
    place = f"{settings.origin(key)}: '{printable(key)}'"
    return UsageError(f"{place}: {_expected(problem['msg'])}{tail}")


def _expected(message: str) -> str:
    """Return what was expected, in our words."""
    message = message.removeprefix("Value error, ").replace("Input should be", "expected")
    message = re.sub(r" after validation, not \d+$", "", message)
    if "unable to parse raw data as a unicode string" in message:
        return "expected UTF-8 text"
    counted = re.fullmatch(r"(String|List) should have (.+)", message)
    return f"expected a {counted[1].lower()} of {counted[2]}" if counted else message


def _refuse_contradictions(settings: Settings, study: Study) -> None:
    """Refuse settings that cannot both be meant."""
    workload = study.workload
    trace = workload.trace is not None
    if trace and workload.builtin:
        raise contradiction(settings, "workload.trace", "workload.builtin = true")
    if workload.builtin is False and not trace:
        raise UsageError(f"{settings.origin('workload.builtin')}: no workload.trace is given")
    refuse_two_workloads(settings, workload.model_dump(exclude_none=True))
    for name in ("format", *_READ_OPTIONS):
        if not trace and getattr(workload, name) is not None:
            raise UsageError(
                f"{settings.origin(f'workload.{name}')}: 'workload.{name}' is about a trace file, "
                "but no workload.trace is given"
            )
    most = study.study.max_replications
    if most is not None and study.study.until_ci is None:
        raise UsageError(
            f"{settings.origin('study.max_replications')}: 'study.max_replications' is about "
            "study.until_ci, which is not given"
        )
    if most is not None and most < study.study.replications:
        raise contradiction(settings, "study.max_replications", "a higher study.replications")
    if study.server.kind == "instant":
        for name in ("queue_limit", "horizon"):
            if getattr(study.server, name) is not None:
                raise contradiction(settings, f"server.{name}", "server.kind = 'instant'")
