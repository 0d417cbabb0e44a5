"""Figures of a cost profile that people compare: floor, knee, prices, errors."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.costs.cost_model import CostModel
from simulator.costs.profile import drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.costs.profile import Profile

_MICRO = 1e-6
SHOWN_N = (1, 64, 65, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
MOST_OUTLIERS = 5


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Lengths and times at which the main cost of a prefill changes.

    F(n) is the time to prefill n tokens without context.

    Parameters
    ----------
    floor_seconds
        F at its shortest length: the least time of a pass.
    token_seconds
        The least F(n) / n: the time of a token where it is cheapest.
    knee_tokens
        The number of tokens that take as long as the floor at `token_seconds` each; shorter
        prefills take about as long as the floor.
    context_tokens
        The context at which the attention pairs of one more token take as long as the token
        itself; None where pairs take no time.
    """

    floor_seconds: float
    token_seconds: float
    knee_tokens: float
    context_tokens: float | None

    @classmethod
    def of(cls, profile: Profile) -> Landmarks:
        """Return the landmarks of a profile."""
        table = profile.prefill.F
        floor = table.us[0] * _MICRO
        token = min(us / n for n, us in zip(table.n, table.us, strict=True)) * _MICRO
        pair = profile.prefill.e_us_per_pair * _MICRO
        return cls(floor, token, floor / token, token / pair if pair else None)


def summary(profile: Profile) -> dict[str, Any]:
    """Return figures of a profile as plain values, times in seconds."""
    costs, landmarks = CostModel(profile), Landmarks.of(profile)
    validation = profile.validation
    checkpoint = costs.capture_seconds(0, 2, [2])
    return {
        **asdict(landmarks),
        "floor_seconds_by_launch": _floors(profile),
        "pair_seconds": profile.prefill.e_us_per_pair * _MICRO,
        "context_token_seconds": profile.prefill.g_us_per_token * _MICRO,
        "prefill_seconds": {
            str(n): costs.prefill_seconds(0, n) for n in SHOWN_N if n <= profile.valid_n_max
        },
        "capture_seconds": checkpoint,
        "restore_seconds": {
            tier: costs.restore_seconds(profile.state_bytes, tier) for tier in _tiers(profile)
        },
        "kv_slot_bytes": profile.kv_slot_bytes,
        "held_out": [asdict(row) for row in validation.held_out] if validation else [],
        "outliers": [asdict(row) for row in validation.outliers] if validation else [],
        "band": validation.band if validation else None,
        "draws": len(profile.prefill.draws or ()),
        "warnings": list(validation.warnings) if validation else [],
    }


def _floors(profile: Profile) -> dict[str, float]:
    """Return launch mode (eager, graph) -> the least seconds of a pass, where that was measured."""
    prefill = profile.prefill
    floors = {"eager": prefill.floor_eager_us, "graph": prefill.floor_graph_us}
    return {name: us * _MICRO for name, us in floors.items() if us is not None}


def residuals(profile: Profile) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return context, length and error of each measured point; error = predicted / measured - 1."""
    prefill = profile.prefill
    c = np.array(prefill.c or (), dtype=np.int64)
    n = np.array(prefill.n or (), dtype=np.int64)
    measured = np.array(prefill.fitted or prefill.median or (), dtype=float) * _MICRO
    costs = CostModel(profile)
    predicted = [
        costs.prefill_seconds(a, a + b) for a, b in zip(c.tolist(), n.tolist(), strict=True)
    ]
    known = measured > 0
    return c[known], n[known], np.array(predicted)[known] / measured[known] - 1


def own_band(profile: Profile) -> tuple[list[float], list[float]] | None:
    """Return both ends of the 95 % band of F in seconds, one a length; None without draws."""
    draws = len(profile.prefill.draws or ())
    if draws < 2:
        return None
    table = np.array([drawn(profile, k).prefill.F.us for k in range(draws)]) * _MICRO
    low, high = np.quantile(table, [0.025, 0.975], axis=0, method="weibull")
    return low.tolist(), high.tolist()


def _tiers(profile: Profile) -> list[str]:
    """Return the memory tiers for whose transfers the profile has figures."""
    links = {"device": profile.io.d2d, "host": profile.io.h2d, "disk": profile.io.disk}
    return [tier for tier, link in links.items() if link is not None]
