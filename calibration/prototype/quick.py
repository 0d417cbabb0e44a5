"""A quick cost profile, measured in seconds, for short prompts on this machine.

Unlike the calibration harness, it has few points, none held out, and no exactness check; its
`source` says so. It is for prototype runs without a measured profile. Points can be timed between
requests, so that a slowdown of a shared machine affects both alike.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from calibration import preflight
from calibration.clock import CallClock
from calibration.fit.fit import fit_form
from calibration.fit.points import Points
from calibration.fit.sections import prefill_section
from calibration.measure.passes import PassTimer
from calibration.models.hybrid import HybridModel, dtype_name
from calibration.plan import Item
from simulator.costs.profile import Profile, parse_profile

# The torch fallback of the delta rule pads to chunks of 64 tokens, so F has steps there.
_STEPS = (1, 2, 16, 64, 65, 128, 129, 192, 193, 256, 257)
_TOKENS = (*_STEPS, 384, 512, 768, 1024, 2048, 4096, 8192)
_BEHIND = (64, 256)  # tokens prefilled after each context
_COPIES = 20  # copies timed together, since one of a small state is too short
_MICRO = 1e6


class QuickProfiler:
    """Measures a model and fits a cost profile; sizes are those of the real tensors.

    Parameters
    ----------
    model, name
        The model and its name.
    clock
        Measures times.
    longest
        Tokens of the longest prompt.
    seed
        Seed of tokens and order.
    """

    def __init__(
        self, model: HybridModel, name: str, clock: CallClock, *, longest: int, seed: int = 0
    ) -> None:
        self._model = model
        self._name = name
        self._clock = clock
        self._seed = seed
        self._random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(longest,)))
        self._timer = PassTimer(model, clock, warm_ups=1, seed=seed)
        self._places = _places(longest)
        self._left: list[int] = []  # points not yet timed in this round
        self.restart()
        self._cache = model.new_cache(1)
        model.forward(self._cache, model.random_tokens(1, seed=seed))
        self._state = self._cache.snapshot()

    @property
    def points(self) -> int:
        """Number of distinct prefills that are timed."""
        return len(self._places)

    def restart(self) -> None:
        """Discard all measurements."""
        self._left.clear()
        self._seconds: list[list[float]] = [[] for _ in self._places]
        self._copies: list[tuple[float, float]] = []  # seconds to store and to restore a state

    def measure(self, points: int) -> None:
        """Time the next `points` prefills; they take turns, in an order shuffled each round."""
        for _ in range(points):
            if not self._left:
                self._left = self._random.permutation(self.points).tolist()
                captures, restores = map(self._clock.seconds, (self._capture, self._restore))
                self._copies.append((captures / _COPIES, restores / _COPIES))
            at = self._left.pop()
            c, n = self._places[at]
            self._seconds[at].append(self._timer.seconds(Item("prefill", c, (n,))))

    def profile(self) -> Profile:
        """Fit and return the profile, from all complete rounds of measurements (at least one)."""
        rounds = min(map(len, self._seconds))
        c, n = np.array(self._places, dtype=np.int64).T
        points = Points(
            c, n, np.array([row[:rounds] for row in self._seconds]), self._clock.typical
        )
        form = fit_form(points)
        capture, restore = np.median(self._copies, axis=0).tolist()
        size = self._state.size_bytes
        data = {
            **self._facts(points),
            "prefill": prefill_section(form, points),
            "checkpoint": {
                "cut_overhead": "prefill_table",
                "snapshot_us_per_mib": capture * _MICRO / (size / 2**20),
            },
            "io": {"d2d": {"latency_us": restore * _MICRO, "gbps": 1e6}},  # for this size only
        }
        return parse_profile(data, "quick profile")

    def _facts(self, points: Points) -> dict[str, Any]:
        """Return the profile fields that do not depend on timings."""
        sizes = self._cache.sizes()
        device = self._model.device
        spread = float(np.median(points.noise))
        return {
            "schema_version": 1,
            "profile_id": f"{self._name}-quick-{device.type}",
            "kind": "toy" if device.type == "cpu" else "measured",
            "source": f"a quick fit to {len(points)} points for the prototype: none held out, "
            f"repeated runs {spread:.1%} apart",
            "licence": "Apache-2.0",
            "created": datetime.now(UTC).date().isoformat(),
            "seed": self._seed,
            "hardware": {"name": preflight.examine(str(device)).name},
            "software": preflight.software(device.type),
            "model": {"name": self._name, "dtype": dtype_name(self._model.dtype)},
            "state": {
                "ssm_bytes": sizes.ssm_bytes,
                "conv_bytes": sizes.conv_bytes,
                "bytes_per_checkpoint": self._state.size_bytes,
            },
            "kv": {"bytes_per_token": sizes.kv_bytes_per_token, "dtype": sizes.kv_dtype},
        }

    def _capture(self) -> None:
        """Copy the states repeatedly."""
        for _ in range(_COPIES):
            self._cache.snapshot()

    def _restore(self) -> None:
        """Restore the states repeatedly."""
        for _ in range(_COPIES):
            self._cache.restore(self._state)


def _places(longest: int) -> list[tuple[int, int]]:
    """Return (context, new tokens) of each prefill to time."""
    longest = max(longest, *_BEHIND)
    tokens = sorted({min(n, longest) for n in _TOKENS})
    contexts = (longest // 4, longest // 2, longest)
    return [(0, n) for n in tokens] + [(c, n) for c in contexts for n in _BEHIND]
