"""A profile in seconds rather than minutes, for one model on this machine and short prompts.

The harness measures more, holds points out and runs the exactness gate; this is for a prototype
that has no such profile at hand, and its `source` says so. It can measure a few points between any
two requests, so that a machine that is shared with others was as slow for both.
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

# Without kernels of its own the delta rule pads to chunks of 64 tokens: F has steps there.
_STEPS = (1, 2, 16, 64, 65, 128, 129, 192, 193, 256, 257)
_TOKENS = (*_STEPS, 384, 512, 768, 1024, 2048, 4096, 8192)
_BEHIND = (64, 256)  # tokens prefilled behind each context
_COPIES = 20  # a copy of a small state is too short to be timed alone
_MICRO = 1e6


class QuickProfiler:
    """Measures and fits a profile; bytes are those of the real tensors.

    Parameters
    ----------
    model, name
        What is measured, and what it is called.
    clock
        Takes the times.
    longest
        Tokens of the longest prompt.
    seed
        Of tokens and order.
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
        self._left: list[int] = []  # points that this round has still to time
        self.restart()
        self._cache = model.new_cache(1)
        model.forward(self._cache, model.random_tokens(1, seed=seed))
        self._state = self._cache.snapshot()

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(self._places)

    def restart(self) -> None:
        """Forget what has been measured."""
        self._left.clear()
        self._seconds: list[list[float]] = [[] for _ in self._places]
        self._copies: list[tuple[float, float]] = []  # seconds of a capture and of a restore

    def measure(self, points: int) -> None:
        """Time so many points more; all come in turn, each round shuffled."""
        for _ in range(points):
            if not self._left:
                self._left = self._random.permutation(self.points).tolist()
                captures, restores = map(self._clock.seconds, (self._capture, self._restore))
                self._copies.append((captures / _COPIES, restores / _COPIES))
            at = self._left.pop()
            c, n = self._places[at]
            self._seconds[at].append(self._timer.seconds(Item("prefill", c, (n,))))

    def profile(self) -> Profile:
        """Return the profile of the rounds that are complete, one at least."""
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
            "io": {"d2d": {"latency_us": restore * _MICRO, "gbps": 1e6}},  # of this one size
        }
        return parse_profile(data, "quick profile")

    def _facts(self, points: Points) -> dict[str, Any]:
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
        for _ in range(_COPIES):
            self._cache.snapshot()

    def _restore(self) -> None:
        for _ in range(_COPIES):
            self._cache.restore(self._state)


def _places(longest: int) -> list[tuple[int, int]]:
    """Return context and tokens of each point."""
    longest = max(longest, *_BEHIND)
    tokens = sorted({min(n, longest) for n in _TOKENS})
    contexts = (longest // 4, longest // 2, longest)
    return [(0, n) for n in tokens] + [(c, n) for c in contexts for n in _BEHIND]
