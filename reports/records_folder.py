"""What `run --out DIR` writes: `records.parquet`, `study.resolved.toml`, `summary.json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.files import (
    make_folder,
    remove_leftovers,
    write_json,
    write_parquet,
)
from reports.settings import to_toml
from reports.study_file import Study
from simulator.errors import UsageError, printable
from simulator.files import unwritable, write_text

if TYPE_CHECKING:
    from simulator.result import Result

FILES = ("records.parquet", "study.resolved.toml", "summary.json")


def refuse_foreign(folder: Path) -> None:
    """Refuse an output folder that holds anything but what an earlier run wrote.

    Raises
    ------
    UsageError
        When it does, or cannot be read.
    """
    try:
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise unwritable(folder, error) from error
    foreign = sorted(name for name in names if name not in FILES and not name.startswith("."))
    if foreign:
        raise UsageError(
            f"{printable(str(folder))}: not empty and not the folder of a run (it holds "
            f"'{printable(foreign[0])}'); give another --out"
        )


def write_records(folder: Path, study: Study, result: Result, summary: dict[str, Any]) -> None:
    """Write the records, the resolved study and the summary, each whole or not at all.

    The summary comes last and holds no wall-clock time: the same run gives the same bytes.
    """
    import polars as pl

    make_folder(folder)
    remove_leftovers(folder)
    records = pl.DataFrame(result.columns).with_columns(pl.col("ttft_seconds").fill_nan(None))
    write_parquet(folder / "records.parquet", records)
    write_text(folder / "study.resolved.toml", to_toml(study.absolute()))
    write_json(folder / "summary.json", {k: v for k, v in summary.items() if k != "wall_seconds"})
