"""Fields of a cost profile derived from the model's geometry and from copy rates."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simulator.costs.geometry import Geometry

# Measured: 49 MiB, a state of the 9B model, copied on an H200 in 24 us.
H200_DEVICE_GBPS = 2150.0
# Typical rates of a pinned buffer over PCIe 5 x16, and of one NVMe drive.
HOST_GBPS = 50.0
DISK_GBPS = 6.0

_DTYPES = {2: "bfloat16", 4: "float32"}


def model_parts(geometry: Geometry) -> dict[str, Any]:
    """Return the profile fields `model`, `state` and `kv`."""
    recurrent, attention = geometry.recurrent, geometry.attention
    dimensions = asdict(geometry)
    del dimensions["name"]
    return {
        "model": {
            "name": geometry.name,
            "layer_types": {"recurrent": recurrent.layers, "attention": attention.layers},
            "dimensions": dimensions,
            **({"parameters": geometry.parameters} if geometry.feed_forward else {}),
        },
        "state": {
            "ssm_bytes": recurrent.ssm_bytes,
            "conv_bytes": recurrent.conv_bytes,
            "bytes_per_checkpoint": geometry.state_bytes,
            "alignment": recurrent.chunk,
            "dtypes": {
                "ssm": _DTYPES[recurrent.ssm_dtype_bytes],
                "conv": _DTYPES[recurrent.conv_dtype_bytes],
            },
        },
        "kv": {
            "bytes_per_token": geometry.kv_bytes_per_token,
            "dtype": _DTYPES[attention.dtype_bytes],
        },
    }


def copy_parts(device_gbps: float) -> dict[str, Any]:
    """Return the profile fields `checkpoint` and `io`, with zero latencies."""
    host = {"latency_us": 0.0, "gbps": HOST_GBPS}
    return {
        "checkpoint": {
            "cut_overhead": "prefill_table",
            "snapshot_us_per_mib": round(2**20 / (device_gbps * 1e3), 6),
        },
        "io": {
            "d2d": {"latency_us": 0.0, "gbps": device_gbps},
            "d2h": host,
            "h2d": host,
            "disk": {"latency_us": 0.0, "gbps": DISK_GBPS},
        },
    }
