"""`compare.json` and `compare.html`: a comparison kept, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.compare.measures import measures_named
from reports.compare.outcome import Change, Compared, TwoRuns
from reports.compare.shown import as_json
from reports.documents import read_document
from reports.files import refuse_foreign
from reports.results.margins import Margins
from reports.statistics import Estimate
from reports.version import version

SCHEMA_VERSION = 1
JSON, PAGE = "compare.json", "compare.html"


def refuse_other_folder(folder: Path) -> None:
    """Raise UsageError for a folder that holds anything but an earlier comparison."""
    refuse_foreign(folder, (JSON, PAGE, "charts"), "the folder of a comparison")


def document_of(runs: TwoRuns, failures: Sequence[str], command: str) -> dict[str, Any]:
    """Return what is kept of a comparison; `failures` are lines of changes beyond a limit."""
    return {
        "schema_version": SCHEMA_VERSION,
        "milepost_version": version(),
        "command": command,
        **as_json(runs, []),
        "failed": list(failures),
    }


def read_comparison(folder: Path) -> dict[str, Any]:
    """Return the document that a folder keeps.

    Raises
    ------
    DataError
        When it is damaged or was written by a newer version.
    """
    from reports.compare.document import StoredComparison

    return read_document(folder / JSON, StoredComparison, "a comparison", SCHEMA_VERSION)[1]


def two_runs(kept: Mapping[str, Any]) -> TwoRuns:
    """Return the comparison that `document_of` made."""
    limits = kept.get("margins")
    margins = Margins() if limits is None else Margins(limits["points"], limits["times"])
    return TwoRuns(
        kind=kept["kind"],
        a=kept["a"],
        b=kept["b"],
        paired=kept["paired"],
        changes=tuple(Change(each["key"], each["a"], each["b"]) for each in kept["changes"]),
        comparisons=tuple(_compared(row, margins) for row in kept["comparisons"]),
        requests=dict(kept["requests"]),
        lost_tokens={name: (both["a"], both["b"]) for name, both in kept["lost_tokens"].items()},
        notes=tuple(kept["notes"]),
        margins=margins,
    )


def _compared(row: Mapping[str, Any], margins: Margins) -> Compared:
    difference = None
    if row["difference"] is not None:
        difference = Estimate(
            row["difference"],
            row["low"],
            row["high"],
            row["resampled"],
            row["count"],
            row["freedom"],
            row["p_holm"],
            reason=row.get("reason") or "",
        )
    measure = measures_named([row["measure"]], "measure")[0]
    difference = measure.judged(difference, row["a"], margins)
    return Compared(row["place"], measure, row["a"], row["b"], difference)
