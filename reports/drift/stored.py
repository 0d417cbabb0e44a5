"""The files that `milepost drift --out DIR` writes: `series.json`, `drift.json`, `report.html`.

`series.json` has the fields of `DriftStudy` by their names, arrays as lists, numbers with all their
digits. Figures and page are made from it alone, so that `milepost report` makes them again without
following any placer.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from reports.artifacts.sweep_documents import SweptStudy
from reports.documents import at_fault, checked, read_document
from reports.drift.evaluation import Course
from reports.drift.findings import SCHEMA_VERSION
from reports.drift.planning import parameters
from reports.drift.study import CLAIRVOYANT, RESULTS, DriftStudy, Replication
from reports.drift.windows import FEWEST_WINDOWS, Windows
from reports.files import refuse_foreign
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.files import escaped_quoted, write_text

SERIES, JSON, PAGE = "series.json", "drift.json", "report.html"
FILES = (*RESULTS, "journal", "traces")

_SENSIBLE = msgspec.Meta(ge=0, le=1 << 53)  # of tokens, requests or plans
_Whole = Annotated[int, _SENSIBLE]
_Fraction = Annotated[float, _SENSIBLE]


class _Stored(msgspec.Struct):
    schema_version: int
    found: DriftStudy


def refuse_other_folder(folder: Path) -> None:
    """Raise UsageError for a folder that holds anything other than an earlier drift study."""
    refuse_foreign(folder, FILES, "the folder of a drift study")


def write_series(folder: Path, study: DriftStudy) -> None:
    """Write `series.json`; UsageError when the folder cannot be written."""
    stored = _Stored(SCHEMA_VERSION, study)
    plain = msgspec.to_builtins(stored, enc_hook=lambda array: array.tolist(), str_keys=True)
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    write_text(folder / SERIES, escaped_quoted(text) + "\n")


def read_series(folder: Path) -> DriftStudy:
    """Return the study that `write_series` stored in a folder.

    Raises
    ------
    UsageError
        When the folder has no `series.json`, which earlier versions did not write.
    DataError
        When the file is damaged or was written by a newer version.
    """
    path = folder / SERIES
    if not path.is_file():
        raise UsageError(
            f"{printable(str(folder))}: no drift study that can be shown again ({SERIES} is "
            "missing); run `milepost drift` again"
        )
    what = "a drift study"
    study = read_document(path, _Stored, what, SCHEMA_VERSION, dec_hook=_array)[0].found
    checked(study.study, SweptStudy, str(path))  # margins are read from them
    _refuse_misfits(study, str(path))
    return study


def _array(kind: Any, values: object) -> NDArray[Any]:
    """Return a JSON list as an array of the dtype that a field declares."""
    dtype = get_args(get_args(kind)[1])[0]
    try:
        numbers = msgspec.convert(values, list[_Fraction] if dtype is np.float64 else list[_Whole])
    except msgspec.ValidationError as error:
        place, problem = at_fault(error)
        raise ValueError(f"{problem} at {place}") from None  # msgspec adds the name of the field
    return np.array(numbers, dtype)


def _refuse_misfits(study: DriftStudy, source: str) -> None:
    """Raise DataError where parts of a study contradict each other."""
    names = {*study.placers, *study.paced.values()}
    counted = study.windows.count - study.windows.first
    distances = study.distances
    fits = {
        "budget": study.budget > 0,
        "windows": study.windows.width > 0 <= study.windows.first and counted >= FEWEST_WINDOWS,
        "placers": bool(study.placers) and all(map(_is_spec, names)),
        "paced": len(study.paced) > 1,
        "distances": {len(distances.steps), len(distances.since_first)} == {counted - 1},
        "change": (distances.change is None) == (distances.largest is None),
        "replications": bool(study.replications)
        and all(_whole(each, study.windows, {CLAIRVOYANT, *names}) for each in study.replications),
    }
    for field, fine in fits.items():
        if not fine:
            raise DataError(source, "damaged: contradicts the rest", field=field)


def _is_spec(placer: str) -> bool:
    try:
        return bool(parameters(placer))
    except UsageError:
        return False


def _whole(each: Replication, windows: Windows, names: set[str]) -> bool:
    """Return whether a replication has all of its requests, and all placers in all windows."""
    depths = each.overlaps.depths
    if len(depths) < windows.count * windows.width or not depths.any():
        return False
    series = [each.overlap_tokens, each.mean_overlap_tokens]
    for course in each.courses.values():
        series += (getattr(course, field.name) for field in fields(Course))
    return names <= each.courses.keys() and {len(s) for s in series} == {len(windows.counted)}
