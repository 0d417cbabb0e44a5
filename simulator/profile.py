"""Load, check and write cost profiles. Standard library only."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from simulator.decode import decode
from simulator.errors import DataError
from simulator.json_file import read_json
from simulator.profile_schema import Prefill, Profile, Table

__all__ = ["SCHEMA_VERSION", "Profile", "load_profile", "parse_profile", "profile_to_json"]

SCHEMA_VERSION = 1


def load_profile(path: str | Path) -> Profile:
    """Return the profile in a JSON file.

    Raises
    ------
    DataError
        If the file cannot be read, is larger than 16 MiB or is not a valid profile.
    """
    return parse_profile(read_json(path, "a profile"), str(path))


def parse_profile(data: object, source: str) -> Profile:
    """Return the profile in decoded JSON.

    F is made non-decreasing by a running maximum: tables measured or composed have noise, and a
    hit must not cost more than a miss because of it.

    Parameters
    ----------
    data
        Decoded JSON.
    source
        The file, for messages.

    Raises
    ------
    DataError
        If a field is missing, unknown, ill-typed, out of bounds or contradicts another.
    """
    if isinstance(data, dict) and data.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        problem = f"expected {SCHEMA_VERSION}: a profile of another version"
        raise DataError(source, problem, field="schema_version")
    profile = decode(Profile, data, source)
    fault = _fault(profile)
    if fault is not None:
        raise DataError(source, fault[1], field=fault[0])
    table = profile.prefill.F
    table = replace(table, us=tuple(accumulate(table.us, max)))
    return replace(profile, prefill=replace(profile.prefill, F=table))


def profile_to_json(profile: Profile) -> str:
    """Return the text of a profile file, the same bytes for equal profiles."""
    return json.dumps(_without_null(asdict(profile)), indent=1, ensure_ascii=False) + "\n"


def _fault(profile: Profile) -> tuple[str, str] | None:
    """Return the field that contradicts another, and how, or None."""
    state = profile.state
    if not _is_date(profile.created):
        return "created", "expected a date such as 2026-11-30"
    if state.bytes_per_checkpoint < state.ssm_bytes + state.conv_bytes:
        return "state.bytes_per_checkpoint", "less than ssm_bytes + conv_bytes"
    return _table_fault(profile.prefill.F) or _points_fault(profile.prefill)


def _table_fault(table: Table) -> tuple[str, str] | None:
    """Return the field at fault in F, and how, or None."""
    if len(table.n) != len(table.us) or len(table.n) < 2:
        found = f"{len(table.n)} in n and {len(table.us)} in us"
        return "prefill.F", f"expected as many entries in n as in us, at least 2, found {found}"
    for index, (low, high) in enumerate(pairwise(table.n), 1):
        if low >= high:
            return f"prefill.F.n[{index}]", f"expected ascending values, found {high} after {low}"
    return None


def _points_fault(prefill: Prefill) -> tuple[str, str] | None:
    """Return the field at fault among the measured points, and how, or None."""
    columns = (prefill.c, prefill.n, prefill.median, prefill.quartiles)
    if len({None if column is None else len(column) for column in columns}) != 1:
        return "prefill", "c, n, median and quartiles differ in length"
    for index, pair in enumerate(prefill.quartiles or ()):
        if len(pair) != 2 or pair[0] > pair[1]:
            return f"prefill.quartiles[{index}]", "expected two ascending numbers"
    return None


def _is_date(text: str) -> bool:
    """Say whether `text` is an ISO 8601 date or time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _without_null(value: Any) -> Any:
    """Return JSON without the fields that are null."""
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    return value
