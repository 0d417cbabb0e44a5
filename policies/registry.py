"""Policies by name: one string names a plug-in and its parameters.

Two forms are read::

    name                    name:key=value,key=value
    module:Class            module:Class:key=value,key=value

A name is looked up in the dict of its kind (PLACERS, ESTIMATORS, ...). The second form reaches any
other class that Python can import, from the working folder as well. The text after the first colon
is a class if it has no "=" and the text before it is no known name.

Parameters are those of the class's constructor: `int`, `float`, `bool` and `str` (or one of these
and `None`, which cannot be written: leave the parameter out).

An eviction policy may be one for each pool, `kv=lru,states=value` (`policies.pools`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import isfunction, signature
from typing import Any, Literal, overload

from policies.documentation import Documentation, documentation_of
from policies.own import doubts, fault_of, remember
from policies.pools import by_pool, names_pools
from simulator.base.errors import UsageError, did_you_mean, printable
from simulator.base.parameters import REQUIRED, Parameter, parameters_of, read_values, text_of
from simulator.plugins.protocols import AdmissionPolicy, EvictionPolicy, OverlapEstimator, Placer


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """A kind of plug-in: the dict of its names, and the protocol of its classes."""

    name: str
    module: str
    table: str
    protocol: type

    @property
    def classes(self) -> dict[str, type]:
        """The registered classes by name."""
        table: dict[str, type] = getattr(importlib.import_module(self.module), self.table)
        return table

    @property
    def members(self) -> list[str]:
        """The names of the protocol's attributes and methods."""
        methods = [name for name in vars(self.protocol) if not name.startswith("_")]
        return [*self.protocol.__annotations__, *methods]

    def missing(self, plugin: type) -> list[str]:
        """Return the members of the protocol that the class lacks."""
        return [member for member in self.members if not hasattr(plugin, member)]

    def misfit(self, plugin: type) -> str | None:
        """Describe a method of a class that cannot be called as in the protocol, None if all can.

        Only the number of arguments is compared, which is where an older plug-in differs.
        """
        for name, promised in vars(self.protocol).items():
            method = getattr(plugin, name, None)
            if name.startswith("_") or not (isfunction(promised) and isfunction(method)):
                continue
            names = [*signature(promised).parameters]
            try:
                signature(method).bind(*names)
            except TypeError:
                return f"it has {name}{signature(method)}; expected {name}({', '.join(names)})"
        return None


KINDS = {
    kind.name: kind
    for kind in (
        PolicyKind("placer", "policies.placement", "PLACERS", Placer),
        PolicyKind("estimator", "policies.estimation", "ESTIMATORS", OverlapEstimator),
        PolicyKind("eviction", "policies.eviction", "EVICTION", EvictionPolicy),
        PolicyKind("admission", "policies.admission", "ADMISSION", AdmissionPolicy),
    )
}


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """The description of one policy, as `milepost policies` shows it.

    Parameters
    ----------
    kind, name
        Its kind and its name.
    documentation
        Its docstring in parts.
    parameters
        In the order of the constructor.
    clairvoyant
        Whether it looks ahead.
    """

    kind: str
    name: str
    documentation: Documentation
    parameters: tuple[Parameter, ...]
    clairvoyant: bool

    @property
    def usage(self) -> str:
        """The string that names it, such as "dyadic:first=768"; a required value is left open."""
        shown = (
            f"{p.name}={'' if p.default is REQUIRED else text_of(p.default)}"
            for p in self.parameters
            if p.default is not None
        )
        return _joined(self.name, shown)


@overload
def create(kind: Literal["placer"], spec: str) -> Placer: ...
@overload
def create(kind: Literal["estimator"], spec: str) -> OverlapEstimator: ...
@overload
def create(kind: Literal["eviction"], spec: str) -> EvictionPolicy: ...
@overload
def create(kind: Literal["admission"], spec: str) -> AdmissionPolicy: ...
@overload
def create(kind: str, spec: str) -> Any: ...
def create(kind: str, spec: str) -> Any:
    """Return a new policy of `kind` ("placer", "estimator", "eviction", "admission").

    Raises
    ------
    UsageError
        Where the name, a parameter or a value is unknown, missing, ill-typed or out of range; or
        where there is a policy for each pool.
    """
    if kind == "eviction" and names_pools(spec):
        raise UsageError(
            f"eviction '{printable(spec)}': expected one policy, found one for each pool"
        )
    return _build(kind, spec)[2]


def canonical(kind: str, spec: str) -> str:
    """Return the one spelling of `spec`: parameters in the constructor's order, defaults left out.

    Where every pool has the same eviction policy, that is one for all.

    Raises
    ------
    UsageError
        As `create` does: what has a canonical spelling can be created.
    """
    if kind == "eviction" and (pools := by_pool(spec)) is not None:
        spelled = {pool: canonical(kind, each) for pool, each in pools.items()}
        alike = len({*spelled.values()}) == 1
        named = (f"{pool}={each}" for pool, each in spelled.items())
        return next(iter(spelled.values())) if alike else ",".join(named)
    name, values, policy = _build(kind, spec)
    known = parameters_of(type(policy))
    shown = (f"{p.name}={text_of(values[p.name])}" for p in known if p.name in values)
    return _joined(name, shown)


def specs_of(kind: str, spec: str) -> list[str]:
    """Return the policy strings in a setting: one for each pool where it names pools."""
    pools = by_pool(spec) if kind == "eviction" else None
    return [spec] if pools is None else [*pools.values()]


def eviction_of(
    spec: str,
) -> Callable[[], EvictionPolicy] | dict[str, Callable[[], EvictionPolicy]]:
    """Return a factory of the eviction policy of every pool, or one for each pool by its name.

    Raises
    ------
    UsageError
        As `create` does.
    """
    for each in specs_of("eviction", spec):
        create("eviction", each)
    pools = by_pool(spec)
    if pools is None:
        return _maker(spec)
    return {pool: _maker(each) for pool, each in pools.items()}


def _maker(spec: str) -> Callable[[], EvictionPolicy]:
    return lambda: create("eviction", spec)


def describe(kind: str) -> list[PolicyInfo]:
    """Return a row for each registered policy of `kind`, in the order of its dict."""
    return [_info(kind, name, plugin) for name, plugin in _kind(kind).classes.items()]


def doubts_of(kind: str, spec: str) -> list[str]:
    """Return a line for each method of a user's class that looks like a hook and is never called.

    Raises
    ------
    UsageError
        As `create` does.
    """
    lines = []
    for each in specs_of(kind, spec):
        name, plugin, _ = _resolve(_kind(kind), each)
        named = f"{kind} '{printable(name)}'"
        lines += [f"{named}: {doubt}" for doubt in doubts(plugin, _kind(kind).members)]
    return lines


def find(spec: str) -> list[PolicyInfo]:
    """Return a row for each kind that has a policy of this name; parameters do not matter.

    A class written module:Class is of each kind whose protocol it fulfils.

    Raises
    ------
    UsageError
        Where there is no such policy, or the class cannot be imported or is of no kind.
    """
    name, _, rest = spec.strip().partition(":")
    rows = [_info(k.name, name, k.classes[name]) for k in KINDS.values() if name in k.classes]
    if rows:
        return rows
    attribute = rest.partition(":")[0]
    if _is_class(attribute):
        return _info_of_import(name, attribute)
    known = dict.fromkeys(known for kind in KINDS.values() for known in kind.classes)
    raise UsageError(f"unknown policy '{printable(name)}'{did_you_mean(name, [*known])}")


def _info(kind: str, name: str, plugin: type) -> PolicyInfo:
    return PolicyInfo(
        kind=kind,
        name=name,
        documentation=documentation_of(plugin),
        parameters=parameters_of(plugin),
        clairvoyant=getattr(plugin, "clairvoyant", False),
    )


def _info_of_import(module: str, attribute: str) -> list[PolicyInfo]:
    """Return a row for each kind whose protocol a class fulfils."""
    plugin = _imported(module, attribute)
    missing = {kind.name: kind.missing(plugin) for kind in KINDS.values()}
    name = f"{module}:{attribute}"
    try:
        rows = [_info(kind, name, plugin) for kind, lacks in missing.items() if not lacks]
    except (ValueError, TypeError, NameError) as error:  # as in `_build`
        raise UsageError(f"policy '{printable(name)}': {error}") from None
    if not rows:
        nearest = min(missing, key=lambda kind: len(missing[kind]))
        lacks = f"to be {nearest}, the nearest kind, it lacks {', '.join(missing[nearest])}"
        raise UsageError(f"{_shown(module, attribute)} is no policy: {lacks}")
    return rows


def _build(kind: str, spec: str) -> tuple[str, dict[str, Any], Any]:
    """Return the name, the values that differ from their defaults, and the policy."""
    try:
        name, plugin, assignments = _resolve(_kind(kind), spec)
        values = read_values(parameters_of(plugin), assignments)
        policy = plugin(**values)
    except (UsageError, ValueError, TypeError, NameError) as error:
        # The last two come from a user's class: still abstract, or with unknown annotations.
        raise UsageError(f"{kind} '{printable(spec)}': {fault_of(error) or error}") from None
    defaults = {p.name: p.default for p in parameters_of(plugin)}
    return name, {k: v for k, v in values.items() if v != defaults[k]}, policy


def _kind(name: str) -> PolicyKind:
    if name not in KINDS:
        raise UsageError(
            f"unknown kind of policy '{printable(name)}'{did_you_mean(name, [*KINDS])}"
        )
    return KINDS[name]


def _resolve(kind: PolicyKind, spec: str) -> tuple[str, type, str]:
    """Split `spec` into its name, the class and the text of the parameters."""
    name, _, rest = spec.strip().partition(":")
    classes = kind.classes
    if name in classes:
        return name, classes[name], rest
    attribute, _, assignments = rest.partition(":")
    if not _is_class(attribute):
        raise UsageError(f"unknown name '{printable(name)}'{did_you_mean(name, [*classes])}")
    plugin = _imported(name, attribute)
    remember(f"{name}:{attribute}", plugin)
    if missing := kind.missing(plugin):
        what = _shown(name, attribute)
        raise UsageError(f"{what} is no {kind.name}: it lacks {', '.join(missing)}")
    if (misfit := kind.misfit(plugin)) is not None:
        raise UsageError(f"{_shown(name, attribute)} is no {kind.name}: {misfit}")
    return f"{name}:{attribute}", plugin, assignments


def _is_class(text: str) -> bool:
    """Say whether the text after the first colon names a class rather than a parameter."""
    return text != "" and "=" not in text


def _imported(module: str, attribute: str) -> type:
    """Import a class by module and name; the working folder is searched last.

    A console script does not search it by itself. Workers start in the folder of their parent.
    """
    what = _shown(module, attribute)
    if "" not in sys.path:
        sys.path.append("")
    try:
        plugin = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # the module's own code runs here, and may raise anything
        problem = printable(f"{type(error).__name__}: {error}")
        raise UsageError(f"cannot import {what}: {problem}") from None
    if not isinstance(plugin, type):
        raise UsageError(f"{what} is not a class")
    return plugin


def _shown(module: str, attribute: str) -> str:
    return f"'{printable(attribute)}' from '{printable(module)}'"


def _joined(name: str, assignments: Iterable[str]) -> str:
    return f"{name}:{joined}" if (joined := ",".join(assignments)) else name
