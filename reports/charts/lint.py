"""Checks that a chart says what it seems to: Vega draws a misspelt field as nothing, silently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 5000


def checked(chart: alt.TopLevelMixin, *, schema: bool = True) -> dict[str, Any]:
    """Return the specification of a chart (Vega-Lite, JSON-ready).

    Parameters
    ----------
    chart
        Of altair.
    schema
        Whether to hold it against the schema of Vega-Lite, which takes far longer than all the
        rest and tells no more of a second chart that the same code made.

    Raises
    ------
    ValueError
        When a field is in no data set, data has more than 5,000 rows, or a number is not finite.
    """
    spec: dict[str, Any] = chart.to_dict(validate=schema)
    tables = [*spec.get("datasets", {}).values(), *_inline(spec)]
    columns = {name for table in tables for row in table for name in row}
    if any(tables):
        unknown = sorted(set(_fields(spec)) - columns - set(_derived(spec)))
        if unknown:
            raise ValueError(f"no data has the field {unknown[0]!r}; it has {sorted(columns)}")
    for table in tables:
        if len(table) > MOST_ROWS:
            raise ValueError(f"{len(table)} rows in one chart: aggregate them first")
    json.dumps(spec, allow_nan=False)
    return spec


def _inline(node: object) -> Iterator[list[dict[str, Any]]]:
    """Yield data given as values inside the specification."""
    for key, value in _items(node):
        if key == "data" and isinstance(value, dict) and isinstance(value.get("values"), list):
            yield value["values"]
        elif key != "datasets":
            yield from _inline(value)


def _fields(node: object) -> Iterator[str]:
    for key, value in _items(node):
        if key == "field" and isinstance(value, str):
            yield value
        elif key not in ("datasets", "data"):
            yield from _fields(value)


def _derived(node: object) -> Iterator[str]:
    """Yield the fields that transforms make."""
    for key, value in _items(node):
        if key == "as":
            yield from [value] if isinstance(value, str) else map(str, cast("list[object]", value))
        elif key not in ("datasets", "data"):
            yield from _derived(value)


def _items(node: object) -> Iterator[tuple[str, object]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from (("", item) for item in node)
