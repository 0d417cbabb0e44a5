"""Compression of a page's charts, so that a page of many charts stays a small file.

A Vega-Lite table is a list of rows, each of which repeats the column names and all texts, and the
charts of a page repeat each other's styles and axes. Here a table is stored by column, equal
columns of different charts are stored once, and so is each text of a column and each equal part of
two charts; numbers keep the six digits that a screen can show.
`templates/script/charts.js` reverses this.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

DIGITS = 6
LEAST_CHARACTERS = 40  # shorter parts are not worth a reference


def packed(specifications: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"charts", "parts", "columns"}`, from which a page restores the specifications.

    Parameters
    ----------
    specifications
        Id of an HTML element -> Vega-Lite specification. Each data set becomes
        `[rows, {name: column}]`, and each repeated part `{"=": its number}`.
    """
    columns: dict[str, int] = {}
    charts = {id: _packed(spec, columns) for id, spec in specifications.items()}
    counts = Counter(_parts(charts))
    parts: dict[str, int] = {}
    charts = {id: _shared(spec, counts, parts) for id, spec in charts.items()}
    return {
        "charts": charts,
        "parts": [json.loads(text) for text in parts],
        "columns": [json.loads(text) for text in columns],
    }


def _packed(spec: Mapping[str, Any], columns: dict[str, int]) -> dict[str, Any]:
    tables = {name: _table(rows, columns) for name, rows in spec.get("datasets", {}).items()}
    return {**spec, "datasets": tables} if tables else dict(spec)


def _table(rows: Sequence[Mapping[str, Any]], columns: dict[str, int]) -> list[Any]:
    names = dict.fromkeys(name for row in rows for name in row)
    numbers = {name: columns.setdefault(_text(_column(name, rows)), len(columns)) for name in names}
    return [len(rows), numbers]


def _column(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a column: one value for all rows, distinct texts and their indices, or all values."""
    values = [short(row.get(name)) for row in rows]
    distinct = list(dict.fromkeys((type(value), value) for value in values))
    if len(distinct) == 1:
        return {"all": values[0]}
    if isinstance(values[0], str) and 2 * len(distinct) <= len(values):
        place = {value: number for number, (_, value) in enumerate(distinct)}
        return {"of": [value for _, value in distinct], "at": [place[value] for value in values]}
    return values


def short(value: Any) -> Any:
    """Return a float with six significant digits, an int if whole; anything else unchanged."""
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _parts(node: Any) -> Iterator[str]:
    """Yield the text of every object and list that is long enough to be worth storing once."""
    if isinstance(node, (dict, list)):
        text = _text(node)
        if len(text) >= LEAST_CHARACTERS:
            yield text
            for value in node.values() if isinstance(node, dict) else node:
                yield from _parts(value)


def _shared(node: Any, counts: Mapping[str, int], parts: dict[str, int]) -> Any:
    """Return the node with its largest repeated parts replaced by their numbers."""
    if not isinstance(node, (dict, list)):
        return node
    text = _text(node)
    if counts.get(text, 0) > 1:
        return {"=": parts.setdefault(text, len(parts))}
    if isinstance(node, list):
        return [_shared(value, counts, parts) for value in node]
    return {key: _shared(value, counts, parts) for key, value in node.items()}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
