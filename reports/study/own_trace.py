"""Replacement of a study's workload by a trace that the user gives."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.base.errors import printable

if TYPE_CHECKING:
    from reports.study.settings import Settings

TRACE = "workload.trace"
FLAG = "--trace"
_REPEATED = ("study.replications", "study.until_ci", "study.max_replications")


def with_own_trace(own: Settings, asked: Settings, over: Collection[str]) -> Settings:
    """Return the settings with the study's traffic replaced by the user's trace.

    The study's settings of workload, arrivals and replications do not apply to another trace. They
    are removed, and a note names each of them.

    Parameters
    ----------
    own
        The settings of the study alone.
    asked
        The settings of the study, overridden by flags and `--set`.
    over
        The keys that were overridden; they are not removed.
    """
    if TRACE not in over or not _replaces(own, asked):
        return asked
    lost = [key for key in own.values if _is_traffic(key) and key not in over]
    notes = [*_about(asked, lost)]
    if not asked.values.get("model.draws"):  # with draws of the costs, replications still differ
        repeated = [k for k in _REPEATED if own.values.get(k, 1) != 1 and k not in over]
        lost += repeated
        notes += _repeated(asked, repeated)
    values = {key: value for key, value in asked.values.items() if key not in lost}
    return replace(asked, values=values, notes=(*asked.notes, *notes))


def _replaces(own: Settings, asked: Settings) -> bool:
    """Return whether the trace replaces other traffic; `--set` may only change a file's path."""
    several = any(key.startswith("grid.workload") for key in own.values)
    return asked.origin(TRACE) == FLAG or TRACE not in own.values or several


def _is_traffic(key: str) -> bool:
    return key == "title" or key.removeprefix("grid.").partition(".")[0] in {"workload", "arrivals"}


def _about(settings: Settings, keys: list[str]) -> Iterator[str]:
    """Yield the note that names the removed settings of the study's own workload, if any."""
    if not keys:
        return
    place, trace = settings.origin(keys[0]), printable(Path(str(settings.values[TRACE])).name)
    sections = ", ".join(dict.fromkeys(_section(key) for key in keys))
    yield f"{place}: {trace} is replayed instead of the study's workload: {sections} not used"


def _section(key: str) -> str:
    if key.startswith("grid."):
        return f"{key.removeprefix('grid.')} of the grid"
    section, dot, _ = key.partition(".")
    return f"[{section}]" if dot else section


def _repeated(settings: Settings, keys: list[str]) -> Iterator[str]:
    """Yield a note for each removed setting of replications: a trace is replayed once."""
    for key in keys:
        yield (
            f"{settings.origin(key)}: {key} = {_shown(settings.values[key])} is not used: a trace "
            "is replayed once, and has intervals where it is long enough to tell"
        )


def _shown(value: Any) -> str:
    return printable(str(value), limit=40)
