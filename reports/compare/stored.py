"""Storage of a comparison: writes and reads `compare.json` for `compare.html`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from reports.compare.condition import Condition
from reports.compare.outcome import Compared, TwoRuns
from reports.documents import Text, read_document
from reports.files import refuse_foreign
from reports.version import version

SCHEMA_VERSION = 1
JSON, PAGE = "compare.json", "compare.html"


class StoredComparison(TwoRuns, frozen=True, kw_only=True):
    """The whole file; `failed` are lines of changes beyond a limit."""

    schema_version: int
    milepost_version: Text
    command: Text
    failed: tuple[Text, ...]


def refuse_other_folder(folder: Path) -> None:
    """Raise UsageError for a folder that holds anything but an earlier comparison."""
    refuse_foreign(folder, (JSON, PAGE, "charts"), "the folder of a comparison")


def document_of(runs: TwoRuns, failures: Sequence[str], command: str) -> dict[str, Any]:
    """Return what is kept of a comparison; `failures` are lines of changes beyond a limit."""
    return {
        "schema_version": SCHEMA_VERSION,
        "milepost_version": version(),
        "command": command,
        **_plain(runs),
        "failed": list(failures),
    }


def as_json(runs: TwoRuns, failures: Sequence[tuple[Condition, Compared]]) -> dict[str, Any]:
    """Return everything as plain values."""
    failed = [{"condition": limit.text, "place": compared.place} for limit, compared in failures]
    return {**_plain(runs), "failed": failed}


def read_comparison(folder: Path) -> tuple[StoredComparison, dict[str, Any]]:
    """Return the comparison that a folder keeps, and all that its file holds, as plain values.

    Raises
    ------
    DataError
        When it is damaged or was written by a newer version.
    """
    kept, plain = read_document(folder / JSON, StoredComparison, "a comparison", SCHEMA_VERSION)
    comparisons = tuple(each.within(kept.margins) for each in kept.comparisons)
    return msgspec.structs.replace(kept, comparisons=comparisons), plain


def _plain(runs: TwoRuns) -> dict[str, Any]:
    """Return the comparison as plain values, with what follows from each figure."""
    plain: dict[str, Any] = msgspec.to_builtins(runs)
    for row, compared in zip(plain["comparisons"], runs.comparisons, strict=True):
        row["unit"] = compared.measure.unit
        row["relative"] = compared.relative
        row["verdict"] = compared.verdict
    return plain
