"""Verdicts on differences, and what they are judged by; `Estimate.verdict` is the one rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["better", "worse", "tied", "unsure", "equal", "unknown"]
CLAIMS: tuple[Verdict, ...] = ("better", "worse")


@dataclass(frozen=True, slots=True)
class Margin:
    """The margin that a difference is judged by.

    Parameters
    ----------
    width
        Differences up to this, either way, do not matter; in the unit of the difference.
    less_is_better
        Whether a difference below zero is an improvement, as of a time.
    """

    width: float = 0.0
    less_is_better: bool = False
