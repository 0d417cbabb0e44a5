"""A report as JSON: all computed values, with the answer and the caveats in words."""

from __future__ import annotations

import json
from typing import Any

from reports.report.value import Report


def as_json(report: Report) -> dict[str, Any]:
    """Return what `--json` prints: the keys of the data, then `answer` and `caveats`."""
    return {"answer": report.answer, "caveats": list(report.caveats)} | dict(report.data)


def as_text(report: Report) -> str:
    """Return the data as indented JSON, as a page shows them."""
    return json.dumps(dict(report.data), indent=2, ensure_ascii=False)
