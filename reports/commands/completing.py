"""Shell completion for names of policies, profiles, formats and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def _placers() -> Iterable[str]:
    return _policies("placer")


def _evictions() -> Iterable[str]:
    return _policies("eviction")


def _admissions() -> Iterable[str]:
    return _policies("admission")


def _joint() -> Iterable[str]:
    from policies.joint import joint_names

    return joint_names()


def _policies(kind: str) -> Iterable[str]:
    from policies.registry import KINDS

    return KINDS[kind].classes


def _profiles() -> Iterable[str]:
    from calibration.catalogue import profile_names

    return profile_names()


def _formats() -> Iterable[str]:
    from workloads.formats import FORMATS

    return FORMATS


def _generators() -> Iterable[str]:
    from workloads.synthetic import GENERATORS

    return GENERATORS


def _arrivals() -> Iterable[str]:
    from workloads.arrivals import ARRIVALS

    return ARRIVALS


def _among(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a completer: names that begin with what was typed, loaded only when it is called."""

    def begun(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return begun


placers, evictions, admissions = _among(_placers), _among(_evictions), _among(_admissions)
joint = _among(_joint)
profiles, formats = _among(_profiles), _among(_formats)
generators, arrivals = _among(_generators), _among(_arrivals)
