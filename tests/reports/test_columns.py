"""Every column that is stored is told of, in the code and in `docs/columns.md`."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from reports.columns import BY_GRID, CELLS, LISTS, RECORDS, page, series
from reports.drift.distances import Distance
from reports.drift.evaluation import Course
from reports.drift.study import Replication
from tests.conftest import ROOT
from tests.reports.cli.conftest import Milepost, milepost

__all__ = ["milepost"]  # a fixture

SMALL = ("--set", "workload.requests=120", "--set", "workload.documents=5", "-q")


@pytest.fixture
def swept(milepost: Milepost, tmp_path: Path) -> Path:
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\nreplications = 2\n[cache]\ncapacity = "1 GiB"\n[grid]\n'
        '"policy.placer" = ["last", "block:size=64"]\n"arrivals.rate" = [2, 5.5]\n'
    )
    assert milepost("sweep", study, *SMALL, "--out", tmp_path / "out", "--jobs", 1).code == 0
    return tmp_path / "out"


def cell_column(name: str) -> str | None:
    """Return what a column of the cells is; None where nothing says so."""
    if re.fullmatch(r"ttft_p[0-9][0-9._]*_seconds", name, re.ASCII):
        return CELLS["ttft_pN_seconds"]
    return BY_GRID if "." in name else CELLS.get(name)


def test_the_page_is_what_the_code_says() -> None:
    assert (ROOT / "docs" / "columns.md").read_text() == page()


def test_every_column_of_the_records_is_told(milepost: Milepost, tmp_path: Path) -> None:
    assert milepost("run", *SMALL, "--out", tmp_path / "out").code == 0
    columns = pl.read_parquet(tmp_path / "out" / "records.parquet").columns
    assert columns == list(RECORDS)  # in the order of the page


def test_every_column_of_the_cells_is_told(swept: Path) -> None:
    columns = pl.read_parquet(swept / "cells.parquet").columns
    undescribed = [name for name in columns if cell_column(name) is None]
    assert not undescribed, f"say in reports/columns.py what these are: {undescribed}"
    assert cell_column("arrivals.rate") == BY_GRID
    assert "arrivals.rate" in columns
    assert cell_column("ttft_p99_seconds") == cell_column("ttft_p99.9_seconds") is not None
    assert cell_column("ttft_pq_seconds") is cell_column("unheard_of") is None


def test_the_csv_has_the_rows_and_the_flat_columns_of_the_cells(swept: Path) -> None:
    cells = pl.read_parquet(swept / "cells.parquet")
    flat = [name for name, dtype in cells.schema.items() if dtype != pl.List]
    text = (swept / "cells.csv").read_text()
    assert text.partition("\n")[0].split(",") == flat
    read = pl.read_csv(swept / "cells.csv", schema_overrides=cells.select(flat).schema)
    assert read.equals(cells.select(flat))
    assert not any(name.startswith(LISTS) for name in flat)
    assert {name for name in CELLS if name.startswith(LISTS)} == set(cells.columns) - set(flat)


@pytest.mark.parametrize("kind", [Replication, Course, Distance])
def test_every_field_of_the_series_is_told(
    kind: type[Replication | Course | Distance],
) -> None:
    described = [name for names in series(kind.__name__) for name in names.split(", ")]
    assert described == [field.name for field in fields(kind)]
