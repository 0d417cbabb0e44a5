"""Checks of chart specifications for errors that Vega ignores, such as misspelt fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 5000


def checked(chart: alt.TopLevelMixin, *, schema: bool = True) -> dict[str, Any]:
    """Return the checked specification of a chart (Vega-Lite, JSON-ready).

    Parameters
    ----------
    chart
        An altair chart.
    schema
        Whether to validate against the schema of Vega-Lite. This takes most of the time, and one
        chart is enough of those that the same code draws.

    Raises
    ------
    ValueError
        When a field is in no data set, data has more than 5,000 rows, or a number is not finite.
    """
    spec: dict[str, Any] = chart.to_dict(validate=schema)
    parts = [*_parts(spec)]
    inline = [value.get("values") for key, value in parts if key == "data"]
    tables = [*spec.get("datasets", {}).values(), *(each for each in inline if each)]
    columns = {name for table in tables for row in table for name in row}
    if any(tables):
        made = {name for key, value in parts if key == "as" for name in _listed(value)}
        fields = {value for key, value in parts if key == "field" and isinstance(value, str)}
        unknown = sorted(fields - columns - made)
        if unknown:
            raise ValueError(f"no data has the field {unknown[0]!r}; it has {sorted(columns)}")
    for table in tables:
        if len(table) > MOST_ROWS:
            raise ValueError(f"{len(table)} rows in one chart: aggregate them first")
    json.dumps(spec, allow_nan=False)
    return spec


def _parts(node: object) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value at any depth, except inside data sets."""
    if isinstance(node, list):
        for item in node:
            yield from _parts(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            yield key, value
            if key not in ("datasets", "data"):
                yield from _parts(value)


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names
