"""Reading, validation and writing of cost profiles, with only the standard library."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from simulator.base.decode import decode
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.json_file import read_json
from simulator.costs.kv_compression import fault
from simulator.costs.schema import CostTable, Prefill, Profile
from simulator.costs.state_compression import fault as state_fault

__all__ = [
    "SCHEMA_VERSION",
    "Profile",
    "drawn",
    "load_profile",
    "parse_profile",
    "profile_to_json",
]

SCHEMA_VERSION = 1


def load_profile(path: str | Path) -> Profile:
    """Read a cost profile from a JSON file.

    Raises
    ------
    DataError
        If the file cannot be read, is larger than 16 MiB or is not a valid profile.
    """
    return parse_profile(read_json(path, "a profile"), str(path))


def parse_profile(data: object, source: str) -> Profile:
    """Build a cost profile from decoded JSON.

    The prefill table F and its draws are made non-decreasing by a running maximum: measured tables
    are noisy, and a cache hit must not cost more than a miss because of noise.

    Parameters
    ----------
    data
        Decoded JSON.
    source
        File name, for error messages.

    Raises
    ------
    DataError
        If a field is missing, unknown, of the wrong type, out of bounds or inconsistent.
    """
    _refuse_newer(data, source)
    profile = decode(Profile, data, source)
    fault = _fault(profile)
    if fault is not None:
        raise DataError(source, fault[1], field=fault[0])
    return replace(profile, prefill=_rising(profile.prefill))


def drawn(profile: Profile, index: int) -> Profile:
    """Return the profile with its fitted coefficients replaced by draw number `index`.

    Draws are alternative coefficients that represent the uncertainty of the fit.

    Raises
    ------
    UsageError
        If the profile has no such draw.
    """
    prefill = profile.prefill
    draws = prefill.draws or ()
    if not 0 <= index < len(draws):
        raise UsageError(
            f"profile '{printable(profile.profile_id)}': expected a draw of its coefficients "
            f"numbered {index}, found {len(draws)} draws"
        )
    draw = draws[index]
    changed = replace(
        prefill,
        F=replace(prefill.F, us=draw.us),
        e_us_per_pair=draw.e_us_per_pair,
        g_us_per_token=draw.g_us_per_token,
        draws=None,
    )
    return replace(profile, prefill=changed)


def profile_to_json(profile: Profile) -> str:
    """Return the text of a profile file; equal profiles give the same bytes."""
    return json.dumps(_without_null(asdict(profile)), indent=1, ensure_ascii=False) + "\n"


def _refuse_newer(data: object, source: str) -> None:
    """Reject a profile of a later schema version, whose fields may have another meaning."""
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        problem = f"expected {SCHEMA_VERSION}: a newer Milepost has written this profile"
        raise DataError(source, problem, field="schema_version")


def _rising(prefill: Prefill) -> Prefill:
    """Make the prefill table F non-decreasing, also in its draws (samples of the fit)."""
    table = replace(prefill.F, us=tuple(accumulate(prefill.F.us, max)))
    draws = prefill.draws and tuple(
        replace(draw, us=tuple(accumulate(draw.us, max))) for draw in prefill.draws
    )
    return replace(prefill, F=table, draws=draws)


def _fault(profile: Profile) -> tuple[str, str] | None:
    """Return the first inconsistent field and the problem, or None."""
    state = profile.state
    if not _is_date(profile.created):
        return "created", "expected a date such as 2026-11-30"
    if state.bytes_per_checkpoint < state.ssm_bytes + state.conv_bytes:
        return "state.bytes_per_checkpoint", "less than ssm_bytes + conv_bytes"
    compression = profile.kv_compression
    problem = compression and fault(
        compression, profile.kv.bytes_per_token, profile.attention_layers
    )
    if problem:
        return "kv_compression", problem
    lossy = profile.state_compression
    state_problem = lossy and state_fault(lossy, state.dtypes)
    if state_problem:
        return "state_compression", state_problem
    return _table_fault(profile.prefill.F) or _points_fault(profile.prefill)


def _table_fault(table: CostTable) -> tuple[str, str] | None:
    """Return the invalid field of the prefill table F and the problem, or None."""
    if len(table.n) != len(table.us) or len(table.n) < 2:
        lengths = f"{len(table.n)} in n and {len(table.us)} in us"
        return "prefill.F", f"expected as many entries in n as in us, at least 2, found {lengths}"
    for index, (low, high) in enumerate(pairwise(table.n), 1):
        if low >= high:
            return f"prefill.F.n[{index}]", f"expected ascending values, found {high} after {low}"
    return None


def _points_fault(prefill: Prefill) -> tuple[str, str] | None:
    """Return the invalid field of the measured prefills and the problem, or None."""
    columns = (prefill.c, prefill.n, prefill.median, prefill.quartiles)
    if len({None if column is None else len(column) for column in columns}) != 1:
        return "prefill", "c, n, median and quartiles differ in length"
    if prefill.fitted is not None and len(prefill.fitted) != len(prefill.n or ()):
        return "prefill.fitted", "expected an entry for each of prefill.n"
    for index, pair in enumerate(prefill.quartiles or ()):
        if len(pair) != 2 or pair[0] > pair[1]:
            return f"prefill.quartiles[{index}]", "expected two ascending numbers"
    for index, draw in enumerate(prefill.draws or ()):
        if len(draw.us) != len(prefill.F.n):
            problem = f"expected {len(prefill.F.n)} entries as in F, found {len(draw.us)}"
            return f"prefill.draws[{index}].us", problem
    return None


def _is_date(text: str) -> bool:
    """Tell whether `text` is an ISO 8601 date or time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _without_null(value: Any) -> Any:
    """Return JSON without fields that are null."""
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    return value
