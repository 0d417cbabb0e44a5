"""Figures as they are stored: plain values of six digits, which any machine makes alike."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.base.files import write_text
from studies.figures.parts import Figures

RESULTS = Path(__file__).parent / "results"
DIGITS = 6
TOLERANCE = 1e-5  # relative: the last of six digits may round either way
_ABSENT = "nothing"


def rounded(value: Any) -> Any:
    """Return the same with every real number to six digits."""
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def read(name: str) -> Figures | None:
    """Return the stored figures of a part; None where there are none yet."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_bytes())) if path.is_file() else None


def write(name: str, figures: Figures) -> None:
    """Store the figures of a part."""
    write_text(RESULTS / f"{name}.json", json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def drift(said: Any, found: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each figure that is stored otherwise than it was found."""
    if isinstance(said, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*said, *found]):
            at = f"{place}.{key}" if place else key
            yield from drift(said.get(key, _ABSENT), found.get(key, _ABSENT), at)
    elif isinstance(said, list) and isinstance(found, list) and len(said) == len(found):
        for number, (one, other) in enumerate(zip(said, found, strict=True)):
            yield from drift(one, other, f"{place}[{number}]")
    elif not _same(said, found):
        yield f"{place}: said {said!r}, found {found!r}"


def _same(said: Any, found: Any) -> bool:
    if isinstance(said, float) and isinstance(found, float):
        return math.isclose(said, found, rel_tol=TOLERANCE)
    return type(said) is type(found) and bool(said == found)
