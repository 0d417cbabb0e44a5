"""Caveats of the warm-up: which requests are served but not counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reports.statistics import MOST_WARMUP_SHARE


def warmup(share: float, by_workload: Mapping[str, float] | None = None) -> Iterator[str]:
    """Yield which share of the requests is not counted, and how that share was chosen.

    Parameters
    ----------
    share
        The share that the study states.
    by_workload
        Workload -> the share that MSER-5 found, where the study asks for it. MSER-5 chooses the
        warm-up that minimizes the standard error of what is left.
    """
    if by_workload:
        yield from _cut(by_workload)
    elif share:
        yield f"Warm-up: the first {100 * share:g} % of the requests are served but not counted."
    else:
        yield "No warm-up was cut: the misses of the empty cache are counted."


def _cut(shares: Mapping[str, float]) -> Iterator[str]:
    """Yield what MSER-5 cut of each workload, and which cuts are the largest that it considers."""
    cuts = " and ".join(f"{100 * share:g} % of {name}" for name, share in shares.items())
    yield (
        f"Warm-up, by MSER-5: the first {cuts} are served but not counted: the largest cut of all "
        "policies and capacities, the same for all of them, so that differences stay paired."
    )
    endless = [name for name, share in shares.items() if share >= MOST_WARMUP_SHARE]
    if endless:
        yield (
            f"Warm-up: half of {' and '.join(endless)} was cut, the most that MSER-5 looks at. The "
            "run may be too short to settle, or the traffic keeps changing."
        )
