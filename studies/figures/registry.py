"""All parts, by name."""

from __future__ import annotations

from collections.abc import Sequence

from studies.figures import (
    answers,
    caps,
    comparing,
    drifting,
    evictions,
    foresight,
    gallery,
    losses,
    one_price,
    papers,
    placed,
    placing,
    predicting,
    twins,
)
from studies.figures.parts import Part

MODULES = (
    gallery,
    losses,
    evictions,
    comparing,
    drifting,
    predicting,
    placing,
    answers,
    placed,
    foresight,
    one_price,
    papers,
    caps,
    twins,
)
PARTS: dict[str, Part] = {part.name: part for module in MODULES for part in module.PARTS}


def chosen(names: Sequence[str]) -> list[Part]:
    """Return the parts with these names or groups, or all; KeyError for an unknown one."""
    for name in names:
        if not any(name in {part.name, part.group} for part in PARTS.values()):
            raise KeyError(name)
    return [p for p in PARTS.values() if not names or p.name in names or p.group in names]
