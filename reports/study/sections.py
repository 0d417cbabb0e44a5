"""The sections of a study file, each number bounded and finite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from reports.study.generated import shown
from reports.study.paths import placed
from simulator.base.bounds import (
    MAX_BLOCK_TOKENS,
    MAX_RATE_PER_SECOND,
    MAX_SEED,
    MIN_RATE_PER_SECOND,
)
from simulator.base.errors import MilepostError, SettingError, UsageError
from simulator.base.units import (
    LARGEST_SECONDS,
    exact_bytes,
    parse_capacity,
    parse_seconds,
    parse_share,
)
from simulator.results.percentiles import USUAL, percentile_name, with_usual
from workloads.instants import TimeUnit
from workloads.options import CachedTokens, OnBadLine, ReadOptions, RowsAre

MOST_REPLICATIONS = 1000
GRID_SECTIONS = ("workload", "arrivals", "model", "cache", "server", "policy")
DEFAULT_RATE = 1.0
MARGIN_POINTS, MARGIN_TIMES = 0.5, 0.02
AUTO = "auto"  # warm-up by MSER-5
MOST_PERCENTILES = 20
# Reading options that a study states; the default template follows from its profile.
READ_OPTIONS = tuple(
    field.name
    for field in fields(ReadOptions)
    if field.name not in {"on_bad_line", "default_template"}
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


def parse_layout(value: str) -> str:
    """Return the one spelling of the pools of a cache."""
    from simulator.cache.layout import UNIFIED, parse_pools

    split = parse_pools(value.strip())
    if split is None:
        return UNIFIED
    kept = exact_bytes(split.size_bytes or 0) if split.slots is None else str(split.slots)
    return f"split:states={kept}"


def parse_cache(value: str) -> str:
    """Return the one spelling of a kind of cache."""
    from simulator.cache.entry_cache import TREE, parse_kind

    rule = parse_kind(value)
    return TREE if rule is None else rule.name


def parse_states(value: Any) -> str:
    """Return the one spelling of a cap on the states of a prefix: 8 is "path:8"."""
    from simulator.cache.state_cap import parse_cap

    return parse_cap(str(value)).name


def parse_percentiles(value: Any) -> list[float]:
    """Return percentiles from "95, 99.9" or a list of numbers, ascending, each once."""
    if isinstance(value, str):
        value = value.split(",")
    listed = value if isinstance(value, list) else [value]
    if not 1 <= len(listed) <= MOST_PERCENTILES:
        raise UsageError(f"expected 1 to {MOST_PERCENTILES} percentiles, as in [95, 99.9]")
    names = [percentile_name(each) for each in listed]
    return [float(name.removeprefix("p")) for name in with_usual(names) if name in names]


def _docs(kind: str, unit: str, *, bounds: str = "") -> Any:
    """Return the documented description of a type that its schema does not describe."""
    texts = {"kind": kind, "unit": unit, "bounds": bounds}
    return Field(json_schema_extra={key: text for key, text in texts.items() if text})


def _reading(parse: Callable[[Any], Any], kinds: tuple[type, ...]) -> BeforeValidator:
    """Return a validator that parses text and raises errors to which pydantic adds the location."""

    def read(value: Any) -> Any:
        if value is None or not isinstance(value, kinds):
            return value
        try:
            return parse(value)
        except MilepostError as error:
            raise ValueError(str(error)) from error

    return BeforeValidator(read)


Seconds = Annotated[
    float, _reading(parse_seconds, (str,)), Field(gt=0, le=LARGEST_SECONDS), _docs("time", "s")
]
Percentiles = Annotated[
    list[float],
    _reading(parse_percentiles, (object,)),
    _docs("numbers, as in `[95, 99.9]`", "", bounds="0 to 100, at most 20"),
]
Capacity = Annotated[
    int | None,
    _reading(parse_capacity, (object,)),
    _docs("size, as in `8 GiB`", "bytes", bounds="0 to 2**60, or `unbounded`"),
]
Pools = Annotated[
    str,
    _reading(parse_layout, (str,)),
    _docs("`unified`, `split:states=64` or `split:states=8GiB`", ""),
]
CacheKind = Annotated[
    str,
    _reading(parse_cache, (str,)),
    _docs("`tree`, `entries:last=20` or `entries:per_document=20`", ""),
]
StatesCap = Annotated[
    str,
    _reading(parse_states, (str, int)),
    _docs("`path:8` or `entry:8`; `8` is `path:8`", "states"),
]
Share = Annotated[
    float, _reading(parse_share, (str,)), Field(gt=0, lt=1), _docs("share, as in `1 %`", "")
]
Warmup = Annotated[
    Annotated[float, Field(ge=0, le=0.9)] | Literal["auto"],
    _reading(parse_warmup, (str,)),
    _docs("share, or `auto`", "of the requests", bounds="0 to 0.9"),
]
Rate = Annotated[
    float, Field(ge=MIN_RATE_PER_SECOND, le=MAX_RATE_PER_SECOND), _docs("number", "1/s")
]
Tokens = Annotated[int, Field(ge=1, le=MAX_BLOCK_TOKENS), _docs("whole number", "tokens")]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
Spec = Annotated[str, Field(min_length=1, max_length=500)]


class _Section(BaseModel):
    # Texts below fields are their descriptions, from which docs/study.md is written.
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class WorkloadSection(_Section):
    """Where the requests come from: a trace file, a generator, or the built-in workload."""

    trace: Annotated[str, Field(min_length=1)] | None = None
    """A trace file or folder, relative to the study file."""
    builtin: bool | None = None
    """Whether requests are those of the built-in workload, as they are without a trace and a
    generator."""
    block: Tokens | None = None
    """Tokens a block, where rows name blocks by ids; by default what the format says."""
    format: str | None = None
    """The format of the trace; by default the one that it looks like."""
    on_bad_line: OnBadLine = "fail"
    """Whether a line that cannot be read is an error, or is left out and counted."""
    time_unit: TimeUnit | None = None
    """The unit of the times in the trace; by default the one of the format."""
    rows: RowsAre | None = None
    """Whether a row holds the whole context, what is new in its session, or a whole conversation;
    by default what the format says, or what the rows show."""
    tokenizer: Spec | None = None
    """How text becomes tokens: a name or a file."""
    template: Spec | None = None
    """The chat template by which messages become text: a name, as in `qwen3.5:thinking=false`, or a
    file; by default that of the profile's model."""
    jitter: Seed | None = None
    """The seed by which arrivals are spread within the ticks of a coarse clock; by default they
    stay where they are."""
    session_rate: Rate | None = None
    """Sessions that begin in a second, where the trace does not tell when they do."""
    seed: Seed | None = None
    """The seed of what a format draws, such as the starts of sessions; 0 by default."""
    cached_tokens: CachedTokens | None = None
    """Whether a server's cached tokens are counted inside its input tokens, or outside."""
    isolate: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """What keeps prefixes apart, where the trace tells it: `salt,lora,model,media`, some of them,
    or `none`; by default all."""
    generator: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    """A generator, as in `chats:turns_mean=3`, or a mixture, as in `0.6 documents + 0.4 chats`;
    a table `[workload.generator]` of shares by name says the same."""
    knobs: dict[str, Any] = {}
    """Those of the built-in workload, each a key of its own."""

    def read_options(self) -> dict[str, Any]:
        """Return the options with which `workloads.opening.open_trace` reads the file."""
        names = {"on_bad_line", *READ_OPTIONS}
        return self.model_dump(include=names, exclude_none=True)


class ArrivalSection(_Section):
    """When requests come, of generated workloads and of traces without times."""

    rate: Rate | None = None
    """Requests in a second: 5 by default, or 1 for a trace without times."""
    process: Spec | None = None
    """The arrival process, as in `gamma:cv=3`: Poisson by default."""


class ModelSection(_Section):
    """The cost profile, and the alignment of checkpoints where it differs from the profile's.

    With `draws` each replication has another draw of the profile's fitted coefficients.
    """

    profile: Spec = "qwen3.5-9b-h200"
    """The cost profile: a name, or a JSON file relative to the study file; options follow a colon,
    as in `qwen3.5-9b-h200:kv=fp8`."""
    alignment: Tokens | None = None
    """Checkpoints lie at multiples of this; by default what the profile says."""
    draws: bool = False
    """Whether each replication draws the coefficients of the profile anew from their
    uncertainty."""


class CacheSection(_Section):
    """The byte budget of KV and checkpoints, and what evicted KV gives up."""

    kind: CacheKind = "tree"
    """Whether prompts share KV and checkpoints of common prefixes in a tree, or the last so many
    whole prompts are kept, of all or of each document, each with its own. Entries leave oldest
    first, whatever `policy.eviction` is."""
    capacity: Capacity = None
    """The bytes that KV and checkpoints may take together."""
    pools: Pools = "unified"
    """Whether KV and checkpoints share the capacity, or so many slots, or bytes, of it are kept
    apart for checkpoints, the rest for KV."""
    states_per_prefix: StatesCap | None = None
    """The most checkpoints that are resident for a prefix: on any path from the root, or in the
    tokens that one request was the first to bring. The placer chooses which stay. By default any
    number: the budget of a placer bounds one placement, not what is resident."""
    cut: Literal["tail", "block", "span"] = "tail"
    """What a span of KV gives up when it is evicted: as much of its end as is short, in whole
    pages; the same, but a prompt too large for the cache ends a page earlier; or all of it.
    Formerly `evicts`, and `span` `run`, which are still read."""
    count_running: bool = False
    """Whether what running requests hold beyond the cache counts against the capacity, so that a
    request waits for room, or is rejected where no room can be made."""


class ServerSection(_Section):
    """How requests are served."""

    kind: Literal["queue", "instant"] = "queue"
    """Whether requests wait for one another, or are served in no time, so that only their order
    counts."""
    queue_limit: Annotated[int, Field(ge=0, le=10**9), _docs("whole number", "requests")] | None = (
        None
    )
    """Requests that may wait; those beyond are rejected. By default any number."""
    horizon: Seconds | None = None
    """When the simulation ends, whatever is unfinished; by default when all requests are."""

    @property
    def timeless(self) -> bool:
        """Whether only the order of requests matters: without a clock there is no load."""
        return self.kind == "instant"


class PolicySection(_Section):
    """One policy string of each kind."""

    all: Annotated[Spec | None, Field(exclude=True)] = None
    """One name for those kinds below that have a policy of it, as in `unified`, or one policy of
    each, as in `adaptive+lru`; a kind that is set by itself stays so."""
    placer: Spec = "adaptive"
    """Where checkpoints are stored, as in `block:size=1024`."""
    eviction: Spec = "lru"
    """What leaves when room is needed; of split pools one for both, or one for each, as in
    `kv=lru,states=value`."""
    admission: Spec = "always"
    """What is worth storing."""


class EvidenceSection(_Section):
    """The evidence: seed, replications, baseline and warm-up."""

    seed: Seed = 0
    """The seed of the first replication, from which the others are drawn."""
    replications: Annotated[int, Field(ge=1, le=MOST_REPLICATIONS)] = 1
    """How often everything is drawn anew; a trace with times of its own is replayed once."""
    until_ci: Share | None = None
    """Replications are added until 95 % intervals are within this share of what they are about."""
    max_replications: Annotated[int, Field(ge=2, le=MOST_REPLICATIONS)] | None = None
    """The most of them, with `until_ci`; by default 100, or `replications` if that is more."""
    baseline: Spec | None = None
    """The placer that others are compared with; by default `last` where it is among them, or the
    first."""
    warmup: Warmup = 0.0
    """The first share of the requests, which is served but not counted; `auto` finds it by
    MSER-5."""
    percentiles: Percentiles | None = None
    """Percentiles of the time to first token that are told besides P50, P90 and P99."""
    margin_points: Annotated[float, Field(ge=0, le=100)] = MARGIN_POINTS
    """Points within which differences of rates are called tied."""
    margin_times: Annotated[float, _reading(parse_share, (str,)), Field(ge=0, lt=1)] = MARGIN_TIMES
    """The share of a time within which differences of times are called tied."""

    @property
    def percentile_names(self) -> list[str]:
        """The percentiles to report besides the default ones, such as "p99.9"."""
        names = [percentile_name(value) for value in self.percentiles or ()]
        return [name for name in names if name not in USUAL]

    @property
    def warmup_share(self) -> float:
        """The share of the requests that does not count.

        Raises UsageError where it is "auto", which only sweeps and runs can find out.
        """
        if self.warmup == "auto":
            raise SettingError(
                "study.warmup", "'auto' is for `milepost sweep` and `run`; state a share here"
            )
        return self.warmup


class ResolvedStudy(_Section):
    """A whole study file, resolved."""

    title: Annotated[str, Field(max_length=200)] = ""
    """What the page is called; by default it is made of the workload."""
    workload: WorkloadSection = WorkloadSection()
    arrivals: ArrivalSection = ArrivalSection()
    model: ModelSection = ModelSection()
    cache: CacheSection = CacheSection()
    server: ServerSection = ServerSection()
    policy: PolicySection = PolicySection()
    study: EvidenceSection = EvidenceSection()
    grid: dict[str, Annotated[list[Any], Field(min_length=1, max_length=1000)]] = {}

    def resolved(self) -> dict[str, Any]:
        """Return every setting as plain values that can be written to a study file.

        A setting that the grid varies is listed only there, so that the file can be run again.
        """
        tables = self.model_dump(exclude_none=True)
        tables["workload"] |= tables["workload"].pop("knobs")
        tables["cache"]["capacity"] = (
            "unbounded" if self.cache.capacity is None else self.cache.capacity
        )
        if self.cache.kind == "tree":  # what all older folders have
            del tables["cache"]["kind"]
        for key in self.grid:
            section, _, name = key.partition(".")
            tables[section].pop(name, None)
            if key == "policy.all":  # defaults would stand in its way
                stated = self.policy.model_fields_set
                tables[section] = {k: v for k, v in tables[section].items() if k in stated}
        return {name: table for name, table in tables.items() if table != {}}

    def absolute(self) -> dict[str, Any]:
        """Return the same study with absolute paths."""
        return {
            name: {key: placed(f"{name}.{key}", v, _anywhere) for key, v in table.items()}
            if isinstance(table, dict)
            else table
            for name, table in self.resolved().items()
        }


def _anywhere(path: str) -> Path:
    return Path(path).resolve()
