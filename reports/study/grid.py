"""The grid of a study: every combination of what it varies, each a study of its own.

Settings (a file, then flags) become a grid, and the grid becomes cells. Each study
is parsed once; later steps do not read the settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from reports.study.capacities import refuse_states_beyond, refuse_too_small
from reports.study.file import parse_study
from reports.study.joint_policy import ALL, FLAG, varied_kinds, with_each_kind
from reports.study.rounds import most_replications
from reports.study.scenario import PolicyError, canonical_policies
from reports.study.sections import ResolvedStudy
from reports.study.settings import Settings
from reports.study.workload_grid import WORKLOADS, named_workloads, with_workload
from simulator.base.errors import UsageError

MOST_CELLS = 100_000


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination of the grid.

    Parameters
    ----------
    choice
        Dotted key -> value, for the keys of the grid; for `policy.all`, those of the policies.
    study
        The study with these put in, policies in canonical spelling.
    """

    choice: dict[str, Any]
    study: ResolvedStudy


@dataclass(frozen=True, slots=True)
class StudyGrid:
    """A study as written, and its variants (grid combinations) in the order of its grid."""

    study: ResolvedStudy
    variants: tuple[Variant, ...]


def grid_of(settings: Settings) -> StudyGrid:
    """Parse a study and every variant of it.

    Raises
    ------
    UsageError
        For anything wrong with the study.
    """
    study = parse_study(settings)
    count = most_replications(study) * prod(map(len, study.grid.values()))
    if count > MOST_CELLS:
        raise UsageError(f"the study has {count:,} cells; at most {MOST_CELLS:,} are run")
    return StudyGrid(study, tuple(_variants(settings, study)))


def _variants(settings: Settings, study: ResolvedStudy) -> Iterator[Variant]:
    workloads = named_workloads(settings, study.grid.get(WORKLOADS, ()))
    varied = study.grid | ({WORKLOADS: list(workloads)} if workloads else {})
    kinds = varied_kinds(settings)
    fixed = {key: v for key, v in settings.values.items() if not key.startswith("grid.")}
    for values in product(*varied.values()):
        choice = dict(zip(varied, values, strict=True))
        variant = replace(settings, values=fixed)
        for key, value in choice.items():
            if key == WORKLOADS:
                variant = with_workload(variant, workloads[value])
            else:
                origin = f"{settings.origin(f'grid.{key}')}: [grid]"
                variant = variant.with_value(key, value, origin)
        study = _parsed(with_each_kind(variant))
        chosen = {key: value for key, value in choice.items() if key != ALL}
        joint = {f"policy.{kind}": getattr(study.policy, kind) for kind in kinds}
        yield Variant(chosen | joint, study)


def _parsed(settings: Settings) -> ResolvedStudy:
    """Return the study of a variant, after checking that its capacity is large enough."""
    study = _canonical(settings)
    capacity = "cache.capacity"
    place = f"{settings.origin(capacity)}: '{capacity}'"
    refuse_too_small(study, study.cache.capacity, settings.values.get(capacity), place)
    refuse_states_beyond(study, study.cache.capacity, place)
    return study


def _canonical(settings: Settings) -> ResolvedStudy:
    """Return the study with every policy in its one spelling; an error names file or flag."""
    study = parse_study(settings)
    try:
        return canonical_policies(study)
    except PolicyError as error:
        key = f"policy.{error.kind}"
        origin = settings.origin(key)
        if origin in {f"--{error.kind}", FLAG}:
            raise UsageError(f"{origin}: {error}") from error
        raise settings.problem(key, f": {error}") from error
