"""The columns of `cells.parquet`: each of one type, whatever a grid mixes or which cells fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.results.metrics import BLOCK_COLUMNS
from reports.results.pools import COLUMNS as POOL_COLUMNS
from reports.results.positions.columns import BIN_COLUMNS, LABELS, WORDS
from simulator.base.files import escaped

if TYPE_CHECKING:
    import polars as pl

_TEXT = frozenset({"error", "profile", "placer", *WORDS})
_WHOLE = frozenset({"capacity_bytes", "bound_saved_tokens"})
_SHARES = ("offered_load", "server_utilisation")  # how their names begin
_REAL = ("_seconds", "_each", "_rate", "_mean", "_mean_bytes", "_per_request", "memory_requests")


def column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return the column of a name.

    A grid may mix what its key takes: whole numbers and others become numbers of one type,
    "800 ms" beside 2.0 becomes text.
    """
    import polars as pl

    dtype = known_type(name) or _common_type(values)
    if dtype == pl.String:
        values = [value if value is None else _text(value) for value in values]
    elif dtype == pl.Float64:
        values = [value if value is None else float(value) for value in values]
    return pl.Series(name, values, dtype=dtype)


def known_type(name: str) -> Any:
    """Return the type of a column that its name tells; None for those of the grid and counts."""
    import polars as pl

    if name in BLOCK_COLUMNS:
        return pl.List(pl.Float64 if name.endswith("_seconds") else pl.Int64)
    if name in BIN_COLUMNS:
        return pl.List(pl.String if name == LABELS else pl.Int64)
    if name in _TEXT:
        return pl.String
    if name in _WHOLE or name in POOL_COLUMNS:
        return pl.Int64
    if name == "queue_grows":
        return pl.Boolean
    return pl.Float64 if name.endswith(_REAL) or name.startswith(_SHARES) else None


def _common_type(values: Sequence[Any]) -> Any:
    """Return the one type that holds all values; None where there are none."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if not kinds or kinds == {bool}:
        return pl.Boolean if kinds else None
    if kinds <= {int, float}:
        return pl.Int64 if kinds == {int} else pl.Float64
    return pl.String


def _text(value: Any) -> str:
    """Return a value as a study file has it."""
    return str(value).lower() if isinstance(value, bool) else escaped(str(value))
