"""Builds a cost profile from the measurements of a calibration, with warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibration.fit.bands import draw_forms
from calibration.fit.errors import errors_by_regime
from calibration.fit.fit import fit_form
from calibration.fit.form import CostForm
from calibration.fit.points import Points
from calibration.fit.sections import prefill_section, validation_section
from calibration.links import copies, links, snapshot_us_per_mib
from calibration.measured import Measured
from simulator.base.errors import UsageError
from simulator.costs.profile import SCHEMA_VERSION, Profile, parse_profile

MEAN_TARGET = {"cuda": 0.05, "cpu": 0.08}  # mean held-out error to stay below
WORST_TARGET = 0.15
FROM_TOKENS = 64
_MICRO = 1e6


def assemble(measured: Measured, parts: dict[str, Any], seed: int) -> Profile:
    """Build the cost profile.

    Parameters
    ----------
    measured
        The timings.
    parts
        Profile fields that do not depend on timings: `profile_id`, `kind`, `hardware`, `model`,
        `state`, ...
    seed
        Seed for resampling residuals, which estimates the uncertainty of the fit.

    Raises
    ------
    UsageError
        If there are too few points for a fit.
    """
    points, held_out = measured.points("prefill"), measured.points("held-out")
    form = _fitted(points)
    draws = [_rising(draw) for draw in draw_forms(form, points, seed=seed)]
    prefill = prefill_section(form, points, draws)
    prefill |= _floors(measured, prefill)
    prefill["valid"] = _valid(measured, points)
    validation = validation_section(form, points, held_out, draws)
    missed = target_warnings(form, held_out, measured.device_kind)
    validation["warnings"] = [*measured.warnings, *_skipped(measured), *missed]
    validation["notes"] = {
        "cuts": _cuts(measured, form),
        "copies": copies(measured),
        "overlap": _rows(measured, "overlap"),
    }
    data = {
        "schema_version": SCHEMA_VERSION,
        **parts,
        "prefill": prefill,
        "batching": _rows(measured, "batch"),
        "decode": _rows(measured, "decode"),
        "checkpoint": {
            "cut_overhead": "prefill_table",
            "snapshot_us_per_mib": snapshot_us_per_mib(measured, parts["state"]),
        },
        "io": links(measured),
        "validation": validation,
    }
    return parse_profile(data, parts["profile_id"])


def target_warnings(form: CostForm, held_out: Points, device_kind: str) -> list[str]:
    """Return a warning for each accuracy target that the fit misses on held-out points.

    Points are timed prefills; only those of 64 tokens or more count.

    Parameters
    ----------
    form
        The fitted cost form.
    held_out
        Points that the fit has not used.
    device_kind
        "cuda" or "cpu", which have different targets.
    """
    beyond = held_out.select(held_out.n >= FROM_TOKENS)
    if not len(beyond):
        return ["no held-out points of 64 tokens or more: nothing says how good the fit is"]
    every = errors_by_regime(form, beyond)[0]
    target, warnings = MEAN_TARGET[device_kind], []
    if every.mean > target:
        warnings.append(
            f"held-out error of {every.mean:.1%} in the mean from {FROM_TOKENS} tokens on, above "
            f"{target:.0%}; repeated runs lie {every.noise:.1%} apart"
        )
    if abs(every.worst) > WORST_TARGET:
        warnings.append(
            f"worst held-out error {every.worst:+.1%} at {every.worst_n} tokens behind "
            f"{every.worst_c}, beyond {WORST_TARGET:.0%}"
        )
    return warnings


def _fitted(points: Points) -> CostForm:
    """Fit the cost form; raise UsageError if there are too few points."""
    try:
        return _rising(fit_form(points))
    except ValueError as error:
        raise UsageError(f"too little was measured for a profile: {error}") from None


def _rising(form: CostForm) -> CostForm:
    """Make the prefill table F of a fit positive and non-decreasing, as profiles require."""
    own = np.maximum.accumulate(np.maximum(form.own_seconds, 1e-9))
    return replace(form, own_seconds=own)


def _valid(measured: Measured, points: Points) -> dict[str, int]:
    """Return the valid range of the fit: the longest prefill, and the longest usable context.

    Contexts from the shortest on that ran out of memory are excluded. A long prefill without
    context that ran out of memory does not limit the contexts.
    """
    failed = [
        item.c
        for block in measured.blocks
        for item in block.items
        if item.kind == "prefill" and item.c and item.name in measured.journal.skipped
    ]
    contexts = [int(c) for c in points.c if c < min(failed, default=2**40)]
    own = points.n[points.c == 0]
    return {"n_max": int(own.max()), "c_max": max(contexts, default=0)}


def _floors(measured: Measured, prefill: dict[str, Any]) -> dict[str, float]:
    """Return the time of the shortest prefill, launched eagerly and as a CUDA graph if timed."""
    floors = {"floor_eager_us": min(prefill["F"]["us"][:2])}
    graphs = [measured.typical_us(item) for item in measured.items("graph")]
    if graphs:
        floors["floor_graph_us"] = min(graphs) * measured.groups
    return floors


def _rows(measured: Measured, kind: str) -> dict[str, list[Any]]:
    """Return the measurements of one kind (such as "decode") as columns, for the whole model."""
    items = measured.items(kind)
    columns: dict[str, list[Any]] = {
        "c": [item.c for item in items],
        "n": [item.n for item in items],
        "batch": [item.batch for item in items],
        "us": [round(measured.typical_us(item) * measured.groups, 3) for item in items],
    }
    if any(item.way for item in items):
        columns["beside"] = [item.way for item in items]
    return columns


def _cuts(measured: Measured, form: CostForm) -> list[dict[str, Any]]:
    """Return measured times of prefills cut into pieces, and the times that the fit predicts."""
    rows = []
    for item in measured.items("cut"):
        pieces = np.array(item.pieces, dtype=np.int64)
        starts = item.c + np.concatenate([[0], np.cumsum(pieces)[:-1]])
        whole = form.seconds(np.array([item.c]), np.array([item.n]))
        rows.append(
            {
                "c": item.c,
                "pieces": [item.pieces[0], len(pieces)]
                if len(set(item.pieces)) == 1
                else pieces.tolist(),
                "us": round(measured.typical_us(item) * measured.groups, 3),
                "said_us": round(float(form.seconds(starts, pieces).sum()) * _MICRO, 3),
                "whole_us": round(float(whole[0]) * _MICRO, 3),
            }
        )
    return rows


def _skipped(measured: Measured) -> list[str]:
    """Return a warning for each reason why planned measurements were not made."""
    reasons: dict[str, list[str]] = {}
    for name, reason in measured.journal.skipped.items():
        reasons.setdefault(reason, []).append(name)
    return [
        f"{reason}: {len(names)} points were not measured ({names[0]}"
        + (", ...)" if len(names) > 1 else ")")
        for reason, names in reasons.items()
    ]
