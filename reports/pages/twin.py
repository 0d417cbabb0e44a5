"""The report of `milepost trace from-stats`: how close a synthetic twin comes to its trace.

The twin is a trace generated from statistics of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.report import Report, Section, Strong, Table
from reports.words import capacity_words

if TYPE_CHECKING:
    from reports.trace.twin import TwinPoint

CLOSE_POINTS = 3.0  # a twin that differs by more does not stand for the original


def twin_report(
    points: Sequence[TwinPoint], written: Mapping[str, Any], name: str, command: str
) -> Report:
    """Return the report of a twin.

    Parameters
    ----------
    points
        Token hit rates of both traces, one point per placer and capacity.
    written
        Facts about the written files, ready for JSON.
    name
        The name of the original trace.
    command
        The command line that makes the twin again.
    """
    worst = max(points, key=lambda point: abs(point.difference_points))
    where = f"{worst.placer}, {capacity_words(worst.capacity_bytes)}"
    apart = abs(worst.difference_points)
    far = f"The twin is more than {CLOSE_POINTS:g} points from the original: do not rely on it"
    first = points[0]
    return Report(
        kind="trace",
        title=f"A twin of {name}",
        sections=(
            Section(
                answer=(
                    "Token hit rates of the twin are up to ",
                    Strong(f"{apart:.1f} points"),
                    f" from those of the original ({where}).",
                ),
                blocks=(
                    Table(
                        id="points",
                        head=(
                            "Placer",
                            "Capacity",
                            f"Saved of {first.original_prompt_tokens:,}",
                            f"The twin, of {first.twin_prompt_tokens:,}",
                            "Difference",
                        ),
                        rows=[_row(point) for point in points],
                        words=(1,),
                    ),
                ),
            ),
        ),
        caveats=(f"{far} there ({where}).",) if apart > CLOSE_POINTS else (),
        command=command,
        data={**written, "token_hit_rates": [point.as_json() for point in points]},
    )


def _row(point: TwinPoint) -> tuple[str, ...]:
    return (
        point.placer,
        capacity_words(point.capacity_bytes),
        _saved(point.original_saved_tokens, point.original_prompt_tokens),
        _saved(point.twin_saved_tokens, point.twin_prompt_tokens),
        f"{point.difference_points:+.1f} points",
    )


def _saved(saved_tokens: int, prompt_tokens: int) -> str:
    return f"{100 * saved_tokens / prompt_tokens:.1f} % ({saved_tokens:,})"
