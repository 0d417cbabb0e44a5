"""The schema of a sweep's `manifest.json` and `cells.parquet`, enforced when they are read.

Fields with a default are those that earlier versions did not write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec

from reports.documents import Count, Share, Text, Whole
from reports.results.columns import known_type
from reports.results.metrics import BLOCK_COLUMNS
from reports.results.positions.columns import BIN_COUNTS, BINS, LABEL_BINS, LABELS
from simulator.base.errors import DataError
from simulator.results.records import LOSSES

if TYPE_CHECKING:
    import polars as pl

IDENTITY = ("replication", "seed", "placer", "capacity_bytes", "error")
_WHOLE = frozenset({"replication", "draw", "capacity_bytes", "prompt_tokens", "saved_tokens"})
_COUNTED = ("requests_", "lost_", "checkpoints_", "extrapolated_")  # how names of counts begin
_TEXTS = frozenset({"cell", "eviction", "admission", "server", "workload", "marks"})
_NEVER_NULL = frozenset({"replication", "seed", "placer"})
MOST = 1e18  # of any figure: times, tokens and bytes lie far below


class SweptTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The trace that was replayed; `deterministic` where nothing depends on the seed."""

    name: Text = ""
    requests: Whole | None = None
    prompt_tokens: Whole | None = None
    granularity: Whole | None = None
    sha256: Text | None = None
    notes: tuple[Text, ...] = ()
    deterministic: bool = False


class SweptProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The basis of times; `lossy` is what each profile keeps of KV or states, in words."""

    id: Text = ""
    kind: Text = ""
    scale: Text = "whole"
    valid_n_max: Whole | None = None
    valid_c_max: Whole | None = None
    band: Annotated[float, msgspec.Meta(ge=0, le=1e6)] | None = None
    warnings: tuple[Text, ...] = ()
    draws: bool = False
    lossy: dict[Text, Text] | None = None


class StudyMargins(msgspec.Struct, frozen=True, kw_only=True):
    """The study's margins within which figures are called tied."""

    margin_points: Annotated[float, msgspec.Meta(ge=0, le=100)] = 0.0
    margin_times: Share = 0.0


class SweptStudy(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that are checked; the others are shown unchecked."""

    study: StudyMargins | None = None


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that failed."""

    cell: Text = ""
    placer: Text = ""
    error: Text | None = None


class UntilCi(msgspec.Struct, frozen=True, kw_only=True):
    """The width that intervals were to have, and whether it was reached."""

    share: Annotated[float, msgspec.Meta(ge=0, le=1e6)]
    reached: bool


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of `manifest.json`."""

    schema_version: int
    title: Text
    command: Text
    milepost_version: Text
    study: SweptStudy
    grid: dict[Text, list[Any]]
    baseline: Text
    replications: Count
    seed: int
    warmup_share: Share
    warmup_auto: dict[Text, Share] | None = None
    trace: SweptTrace
    workloads: dict[Text, SweptTrace] | None = None
    profile: SweptProfile
    failed: tuple[Failed, ...]
    capacity_notes: tuple[Text, ...] = ()
    until_ci: UntilCi | None = None
    versions: dict[Text, Text | None]


def check_cells(cells: pl.DataFrame, source: str) -> None:
    """Refuse a table of cells whose columns are not what their names say.

    Raises
    ------
    DataError
        For a column that is missing, of another type, or holds what no cell leaves.
    """
    for name in IDENTITY:
        if name not in cells.columns:
            raise DataError(source, "missing", field=name)
    if cells.is_empty():
        raise DataError(source, "expected at least one cell")
    for column in cells:
        problem = _type_problem(column) or _value_problem(column)
        if problem is not None:
            raise DataError(source, problem, field=column.name)
    _check_blocks(cells, source)
    _check_bins(cells, source)
    _check_sums(cells, source)


def _type_problem(column: pl.Series) -> str | None:
    """Return a sentence on a column whose type does not fit its name, or None."""
    import polars as pl

    known, dtype = known_type(column.name), column.dtype
    if dtype == pl.Null and column.name not in _NEVER_NULL:
        return None
    if column.name in _TEXTS or known == pl.String:
        fits, expected = dtype == pl.String, "text"
    elif known == pl.Int64 or (known is None and _counts(column.name)):
        fits, expected = dtype.is_integer(), "whole numbers"
    elif known == pl.Boolean:
        fits, expected = dtype == pl.Boolean, "true or false"
    elif known == pl.List(pl.String):
        fits, expected = dtype in (known, pl.List(pl.Null)), "lists of text"
    elif isinstance(known, pl.List):
        fits, expected = isinstance(dtype, pl.List) and _of_numbers(dtype), "lists of numbers"
    elif known is not None:
        fits, expected = dtype.is_numeric(), "numbers"
    else:  # what the grid varies is of any one type
        fits = dtype.is_numeric() or dtype in (pl.String, pl.Boolean)
        expected = "text, numbers, or true and false"
    return None if fits else f"expected {expected}, found {dtype}"


def _counts(name: str) -> bool:
    return name == "seed" or name in _WHOLE or name.startswith(_COUNTED)


def _of_numbers(lists: pl.List) -> bool:
    """Whether lists are of numbers; those that are all empty tell no type."""
    import polars as pl

    return lists.inner == pl.Null or lists.inner.is_numeric()


def _value_problem(column: pl.Series) -> str | None:
    """Return a sentence on a value that no cell can have, or None."""
    import polars as pl

    if column.name in _NEVER_NULL and column.null_count():
        return f"expected a value in every cell, found {column.null_count()} nulls"
    values = column.drop_nulls()
    if isinstance(column.dtype, pl.List):
        values = values.filter(values.list.len() > 0).explode()
        if values.null_count():
            return "expected values in lists, found nulls"
    if not values.dtype.is_numeric() or values.is_empty() or column.name == "seed":
        return None
    if values.dtype.is_float() and not values.is_finite().all():
        return "expected finite numbers, found NaN or infinity"
    least: Any = 0 if column.name in _WHOLE or known_type(column.name) is not None else -MOST
    low, high = (cast(float, end) for end in (values.min(), values.max()))
    fits = float(low) >= least and float(high) <= MOST
    return None if fits else f"expected numbers from {least:g} to {MOST:g}, found {low} to {high}"


def _check_blocks(cells: pl.DataFrame, source: str) -> None:
    """Refuse lists over the blocks of one cell that differ in length."""
    names = [name for name in cells.columns if name in BLOCK_COLUMNS]
    for row in cells.select(names).iter_rows():
        lengths = [(len(values), name) for name, values in zip(names, row, strict=True) if values]
        if lengths and min(lengths)[0] < max(lengths)[0]:
            problem = f"expected {max(lengths)[0]} blocks as in '{max(lengths)[1]}'"
            raise DataError(source, f"{problem}, found {min(lengths)[0]}", field=min(lengths)[1])


def _check_sums(cells: pl.DataFrame, source: str) -> None:
    """Refuse cells whose saved and lost tokens do not add up to their prompt tokens."""
    import polars as pl

    parts = ["saved_tokens", *(f"lost_{loss}_tokens" for loss in LOSSES)]
    if not {"prompt_tokens", *parts} <= set(cells.columns):
        return  # not every version wrote every figure
    whole, summed = pl.col("prompt_tokens"), pl.sum_horizontal(pl.col(parts))
    wrong = cells.drop_nulls(["prompt_tokens", *parts]).filter(whole != summed)
    if len(wrong):
        tokens, summed_tokens = wrong.select(whole, summed.alias("summed")).row(0)
        problem = f"expected saved and lost tokens that make {tokens:,} prompt tokens"
        raise DataError(source, f"{problem}, found {summed_tokens:,}", field="saved_tokens")


def _check_bins(cells: pl.DataFrame, source: str) -> None:
    """Refuse histograms of positions with more or fewer bins than there are."""
    names = [name for name in (LABELS, *BINS, *LABEL_BINS) if name in cells.columns]
    for row in cells.select(names).iter_rows(named=True):
        labels = len(row.get(LABELS) or ())
        sizes = {name: BIN_COUNTS[name] for name in BINS}
        sizes |= {name: labels * BIN_COUNTS[name] for name in LABEL_BINS}
        for name, size in sizes.items():
            bins = len(row.get(name) or ())
            if bins not in (0, size):
                raise DataError(source, f"expected {size} bins, found {bins}", field=name)
