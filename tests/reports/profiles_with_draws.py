"""A small measured-looking profile with draws, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibration.fit.bands import draw_forms
from calibration.fit.fit import fit_form
from calibration.fit.form import CostForm
from calibration.fit.points import Points
from calibration.fit.sections import prefill_section, validation_section
from simulator.costs.profile import Profile, parse_profile

N = np.array([1, 64, 65, 256, 1024, 8192])
TRUTH = CostForm(N, np.array([4.0, 5.0, 5.8, 7.0, 22.0, 180.0]) * 1e-3, 2e-10)


def profile_with_draws(draws: int = 6, noise: float = 0.2, warning: str = "a toy") -> Profile:
    """Return a profile of a toy fitted to noisy points."""
    c, n = (axis.ravel() for axis in np.meshgrid([0, 1024, 16_384], N))
    random = np.random.default_rng(0)
    times = TRUTH.seconds(c, n)[:, None] * np.exp(random.normal(0, noise, (len(n), 3)))
    points = Points(c, n, times)
    form = fit_form(points)
    forms = draw_forms(form, points, seed=0, draws=draws)
    data: dict[str, Any] = {
        "schema_version": 1,
        "profile_id": "toy-drawn",
        "kind": "toy",
        "source": "a test",
        "licence": "Apache-2.0",
        "created": "2026-11-30",
        "hardware": {"name": "none"},
        "model": {"name": "toy", "layer_types": {"recurrent": 3, "attention": 2}},
        "state": {"ssm_bytes": 2**20, "conv_bytes": 0, "bytes_per_checkpoint": 2**20},
        "kv": {"bytes_per_token": 4096, "dtype": "bfloat16"},
        "prefill": prefill_section(form, points, forms),
        "checkpoint": {"cut_overhead": "prefill_table", "snapshot_us_per_mib": 1.0},
        "io": {"d2d": {"latency_us": 1.0, "gbps": 1000.0}},
        "validation": validation_section(form, points, points, forms) | {"warnings": [warning]},
    }
    return parse_profile(data, "toy-drawn")
