"""One string for the placer, the eviction and the admission of a cache.

Two forms are read::

    name:key=value,key=value       the policies of this name, such as unified
    PLACER+EVICTION[+ADMISSION]    a policy of each kind, as in adaptive+lru

In the first form each parameter goes to those of the policies that have it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from policies.registry import KINDS, canonical
from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.base.parameters import Parameter, parameters_of, read_values

TOGETHER = ("placer", "eviction", "admission")
_ALONE = {
    "placer": "a placer alone",
    "eviction": "an eviction policy alone",
    "admission": "an admission policy alone",
}
_PLUS = re.compile(r"\+(?=\s*[A-Za-z_])")  # not that of an exponent


def joint_names() -> dict[str, tuple[str, ...]]:
    """Return the names that policies of several kinds have, with these; those of most first."""
    names = dict.fromkeys(name for kind in TOGETHER for name in KINDS[kind].classes)
    of = {name: tuple(k for k in TOGETHER if name in KINDS[k].classes) for name in names}
    most = sorted(of.items(), key=lambda item: -len(item[1]))
    return {name: kinds for name, kinds in most if len(kinds) > 1}


def by_kind(spec: str) -> dict[str, str]:
    """Return the policy string of each kind that a joint one names.

    Parts that are joined by "+" are read when their policies are created, not here.

    Raises
    ------
    UsageError
        Where the name is not that of several kinds, or a parameter is unknown, missing or
        ill-typed.
    """
    parts = [part.strip() for part in _PLUS.split(spec)]
    if 1 < len(parts) <= len(TOGETHER):
        return dict(zip(TOGETHER, parts, strict=False))
    try:
        if len(parts) > 1:
            raise UsageError(f"expected {'+'.join(TOGETHER).upper()}, found {len(parts)} parts")
        return _of_one_name(parts[0])
    except UsageError as error:
        raise UsageError(f"policy '{printable(spec)}': {error}") from None


def _of_one_name(spec: str) -> dict[str, str]:
    name, _, given = (part.strip() for part in spec.partition(":"))
    names = joint_names()
    if name not in names:
        raise _unknown(name, [*names])
    known = {kind: parameters_of(KINDS[kind].classes[name]) for kind in names[name]}
    every = {each.name: each for parameters in known.values() for each in parameters}
    read_values(tuple(every.values()), given)
    return {kind: _string(name, parameters, given) for kind, parameters in known.items()}


def _string(name: str, parameters: Sequence[Parameter], given: str) -> str:
    own = {each.name for each in parameters}
    kept = [item for item in given.split(",") if item.partition("=")[0].strip() in own]
    return f"{name}:{','.join(kept)}" if kept else name


def _unknown(name: str, names: list[str]) -> UsageError:
    alone = next((kind for kind in TOGETHER if name in KINDS[kind].classes), None)
    if alone is None and (hint := did_you_mean(name, names)).startswith("; did"):
        return UsageError(f"unknown name '{printable(name)}'{hint}")
    problem = f"unknown name '{printable(name)}'" if alone is None else f"it names {_ALONE[alone]}"
    return UsageError(
        f"{problem}; expected a name of several kinds ({', '.join(names)}) or "
        "PLACER+EVICTION[+ADMISSION], as in adaptive+lru"
    )


def names_of(policies: Mapping[str, Any], kinds: Sequence[str]) -> list[str]:
    """Return the policies of some kinds; one string where one names all three of the cache.

    Parameters
    ----------
    policies
        The placer, the eviction and the admission by these names, in canonical spelling.
    kinds
        Those to be named.
    """
    every = tuple(str(policies.get(kind)) for kind in TOGETHER)
    joint = joined(*every) if len(kinds) > 1 else None
    return [str(policies[kind]) for kind in kinds] if joint is None else [joint]


@lru_cache(maxsize=256)
def joined(placer: str, eviction: str, admission: str) -> str | None:
    """Return the one string that gives all three policies; None where they differ in name.

    None as well where no string would give them the parameters that they have.
    """
    every = dict(zip(TOGETHER, (placer, eviction, admission), strict=True))
    split = [spec.partition(":") for spec in every.values()]
    name = split[0][0]
    if {each for each, _, _ in split} != {name}:
        return None
    items = dict.fromkeys(item for _, _, given in split for item in given.split(",") if item)
    joint = f"{name}:{','.join(items)}" if items else name
    try:
        spelled = {kind: canonical(kind, spec) for kind, spec in by_kind(joint).items()}
    except UsageError:  # a class of a user's own, or stored by another version
        return None
    return joint if spelled == every else None
