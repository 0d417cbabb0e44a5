from __future__ import annotations

from typing import Any

import pytest

from reports.charts.lint import checked
from reports.report.packing import packed, short
from tests.reports.pages.rendering import study_charts
from tests.reports.sample_study import GIB, sample


def unpacked(page: dict[str, Any]) -> dict[str, Any]:
    """Return the specifications again, as the script of a page makes them."""

    def whole(node: Any) -> Any:
        if isinstance(node, list):
            return [whole(value) for value in node]
        if not isinstance(node, dict):
            return node
        if "=" in node:
            return whole(page["parts"][node["="]])
        return {key: whole(value) for key, value in node.items()}

    def value(column: Any, row: int) -> Any:
        if isinstance(column, list):
            return column[row]
        return column["of"][column["at"][row]] if "at" in column else column["all"]

    charts = {id: whole(chart) for id, chart in page["charts"].items()}
    for chart in charts.values():
        for name, (rows, columns) in chart.get("datasets", {}).items():
            chart["datasets"][name] = [
                {key: value(page["columns"][number], row) for key, number in columns.items()}
                for row in range(rows)
            ]
    return charts


def test_what_is_packed_comes_out_again() -> None:
    cells, manifest = sample(["last", "branch"], [4 * GIB, 8 * GIB])
    specs = {name: checked(chart) for name, chart in study_charts(cells, manifest).items()}
    specs_again = unpacked(packed(specs))
    for name, spec in specs.items():
        tables = spec["datasets"]
        rounded = {
            table: [{key: short(value) for key, value in row.items()} for row in rows]
            for table, rows in tables.items()
        }
        assert specs_again[name] == spec | {"datasets": rounded}


def test_a_column_of_two_charts_and_a_part_of_two_charts_are_written_once() -> None:
    rows = [{"policy": "optimal:budget=8" if row % 2 else "last", "x": row / 3} for row in range(9)]
    axis = {"title": "a title that is longer than the number that stands for it"}
    specs = {
        "one": {"datasets": {"a": rows}, "x": axis},
        "two": {"datasets": {"b": [row | {"y": 1.0} for row in rows]}, "y": axis},
    }
    page = packed(specs)
    assert page["parts"] == [axis]
    assert page["columns"] == [
        {"of": ["last", "optimal:budget=8"], "at": [0, 1, 0, 1, 0, 1, 0, 1, 0]},
        [0, 0.333333, 0.666667, 1, 1.33333, 1.66667, 2, 2.33333, 2.66667],
        {"all": 1},
    ]
    assert page["charts"]["two"] == {
        "datasets": {"b": [9, {"policy": 0, "x": 1, "y": 2}]},
        "y": {"=": 0},
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2 / 3, 0.666667), (1e-9 / 3, 3.33333e-10), (8.0, 8), (1e300, 1e300), (7, 7), ("8.0", "8.0")],
)
def test_numbers_keep_six_digits(value: Any, expected: Any) -> None:
    assert short(value) == expected
    assert type(short(value)) is type(expected)


def test_rows_may_lack_a_column_and_truth_is_not_one() -> None:
    rows = [{"tied": True, "n": 1}, {"tied": True, "n": None}, {"tied": 1, "n": 1, "more": "x"}]
    specs_again = unpacked(packed({"one": {"datasets": {"a": rows}}}))
    assert specs_again["one"]["datasets"]["a"] == [
        {"tied": True, "n": 1, "more": None},
        {"tied": True, "n": None, "more": None},
        {"tied": 1, "n": 1, "more": "x"},
    ]


def test_a_page_without_charts() -> None:
    assert packed({}) == {"charts": {}, "parts": [], "columns": []}
