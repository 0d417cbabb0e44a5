"""Served requests made by hand."""

from __future__ import annotations

from typing import Any

from calibration.prototype.served import Priced, PrototypeRun, Sameness, Served, Setting


def served(
    request: int = 0, simulated: float = 1.0, measured: float = 1.0, **fields: Any
) -> Served:
    given: dict[str, Any] = {
        "arrival_seconds": float(request),
        "prompt_tokens": 100,
        "overlap_tokens": 0,
        "saved_tokens": 0,
        "positions": (),
        "passes_seconds": (measured, measured),
    }
    return Served(
        request=request,
        priced=Priced(0.0, simulated, 0.0),
        measured_seconds=measured,
        **given | fields,
    )


def run_of(*requests: Served, **setting: str) -> PrototypeRun:
    words = dict.fromkeys(Setting.__dataclass_fields__, "x")
    words |= {"profile_kind": "toy", "scale": "whole", "dtype": "float32"} | setting
    return PrototypeRun(
        schema_version=1,
        setting=Setting(**words),
        requests=requests,
        sameness=Sameness(checked=1, resumed=2, max_abs=1e-6),
        state_bytes=1000,
        profile_state_bytes=1000,
        extrapolated_requests=0,
    )
