"""Fits latency and bandwidth to timed copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibration.measured import Measured
from simulator.base.errors import UsageError

_MIB = 2**20


def copies(measured: Measured) -> dict[str, dict[str, list[float]]]:
    """Return the timed copies by kind, such as "d2h": sizes in bytes and times in microseconds."""
    by_way: dict[str, dict[str, list[float]]] = {}
    for item in measured.items("copy"):
        columns = by_way.setdefault(item.way, {"bytes": [], "us": []})
        columns["bytes"].append(item.size_bytes)
        columns["us"].append(round(measured.typical_us(item), 3))
    return by_way


def links(measured: Measured) -> dict[str, dict[str, float]]:
    """Return the profile's field `io`: latency and bandwidth of each kind of copy.

    On a CPU, device memory is host memory, so copies between them equal copies within the device.

    Raises
    ------
    UsageError
        If no copies were measured.
    """
    timed = copies(measured)
    fitted = {way: _link(columns) for way, columns in timed.items() if len(columns["us"]) > 1}
    if "d2d" not in fitted:
        raise UsageError("too little was measured for a profile: no copies")
    sides = {way: fitted.get(way, fitted["d2d"]) for way in ("d2d", "d2h", "h2d")}
    return sides | ({"disk": fitted["read"]} if "read" in fitted else {})


def _link(columns: dict[str, list[float]]) -> dict[str, float]:
    """Fit the time of copies to latency + bytes / bandwidth, minimising relative errors."""
    from scipy.optimize import nnls

    size, us = np.array(columns["bytes"], dtype=float), np.array(columns["us"])
    (latency, per_byte), _ = nnls(np.column_stack([1 / us, size / us]), np.ones_like(us))
    per_byte = max(per_byte, 1e-9)
    return {"latency_us": round(float(latency), 3), "gbps": round(1e-3 / float(per_byte), 3)}


def snapshot_us_per_mib(measured: Measured, state: dict[str, Any]) -> float:
    """Return the microseconds per MiB to copy one state on the device, including latency."""
    link = links(measured)["d2d"]
    size_bytes: int = state["bytes_per_checkpoint"]
    copied_us = link["latency_us"] + size_bytes / (link["gbps"] * 1e3)
    return round(copied_us * _MIB / size_bytes, 6)
