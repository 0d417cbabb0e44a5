"""Storage of figures: plain values rounded to six digits, the same on every machine."""

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
TOLERANCE = 1e-5  # relative, since the last of six digits may round either way
_ABSENT = "nothing"


def rounded(value: Any) -> Any:
    """Return a value with every real number in it rounded to six digits."""
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def read(name: str) -> Figures | None:
    """Return the stored figures of a part; None if there are none yet."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_bytes())) if path.is_file() else None


def write(name: str, figures: Figures) -> None:
    """Store the figures of a part."""
    write_text(RESULTS / f"{name}.json", json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def drift(stored: Any, fresh: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each figure that differs from the stored one."""
    if isinstance(stored, dict) and isinstance(fresh, dict):
        for key in dict.fromkeys([*stored, *fresh]):
            at = f"{place}.{key}" if place else key
            yield from drift(stored.get(key, _ABSENT), fresh.get(key, _ABSENT), at)
    elif isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        for number, (one, other) in enumerate(zip(stored, fresh, strict=True)):
            yield from drift(one, other, f"{place}[{number}]")
    elif not _same(stored, fresh):
        yield f"{place}: said {stored!r}, found {fresh!r}"


def _same(stored: Any, fresh: Any) -> bool:
    if isinstance(stored, float) and isinstance(fresh, float):
        return math.isclose(stored, fresh, rel_tol=TOLERANCE)
    return type(stored) is type(fresh) and bool(stored == fresh)
