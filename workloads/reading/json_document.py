"""Files with one JSON document each, read singly or from a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from simulator.base.errors import DataError
from workloads.reading.fields import Problem
from workloads.reading.folders import files_in
from workloads.reading.json_lines import among, explain, no_json, not_finite
from workloads.reading.reader import read_text
from workloads.reading.watching import Watch
from workloads.rows import Rows

SUFFIXES = (".json", ".json.gz")

Document = TypeVar("Document")


def read_json_documents(
    path: Path, rows: Rows, kind: type[Document], take: Callable[[Document, int], Problem | None]
) -> Rows:
    """Decode a file, or each JSON file in a folder, as `kind` and pass it to `take`.

    Parameters
    ----------
    path
        A file, plain or gzip, or a folder, whose files that end in .json or .json.gz are read in
        the order of their names. Subfolders are not read.
    rows
        Registers bad documents; returned.
    kind
        Type of the document: a msgspec struct, or a list of them.
    take
        Adds a document to the rows, or returns what is wrong with it and adds nothing. Its
        second argument is the document's number, from 1.

    Raises
    ------
    DataError
        For the first bad document, unless bad ones are skipped; for a folder without any; and
        for a file that cannot be read.
    """
    watch = Watch(kind, rows)
    for number, file in enumerate(files_in(path, SUFFIXES), start=1):
        text = read_text(file)
        if not text.strip():
            raise DataError(str(file), "expected a JSON document, found an empty file")
        problem = _taken(text, watch, take, number)
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(file), what, field=field))
    return rows


def _taken(
    text: bytes,
    watch: Watch[Document],
    take: Callable[[Document, int], Problem | None],
    number: int,
) -> Problem | None:
    try:
        return among(take(watch.decode(text, number, "times"), number), text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return not_finite(text) or no_json(text) or among(explain(str(error)), text)
    except RecursionError:
        return None, "expected a JSON document, found one nested too deeply"
