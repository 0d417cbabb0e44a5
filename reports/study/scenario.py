"""Conversion of a study to scenarios that the simulator runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.study.sections import ResolvedStudy
from simulator.base.errors import SettingError, UsageError
from simulator.base.file_memory import remembered

if TYPE_CHECKING:
    from simulator.costs.profile import Profile
    from simulator.simulation import Scenario


class PolicyError(UsageError):
    """An error for an invalid policy string, with the kind of policy."""

    def __init__(self, kind: str, problem: str) -> None:
        super().__init__(problem)
        self.kind = kind


def build_scenario(
    study: ResolvedStudy, *, check: bool = False, draw: int | None = None
) -> Scenario:
    """Return a new scenario; policies keep state, so no two simulations share one.

    With `draw`, the cost coefficients are that draw of the profile's.

    Raises
    ------
    UsageError, DataError
        For an unknown policy or profile, or parameters out of range.
    """
    from policies.registry import create, eviction_of
    from simulator.simulation import Scenario

    policy = study.policy
    for kind in ("placer", "admission"):
        create(kind, getattr(policy, kind))  # whatever is wrong with it is told now

    return Scenario(
        profile=profile_named(study.model.profile, draw),
        placer=lambda: create("placer", policy.placer),
        eviction=eviction_of(policy.eviction),
        admission=lambda: create("admission", policy.admission),
        capacity_bytes=study.cache.capacity,
        pools=study.cache.pools,
        server=study.server.kind,
        alignment=study.model.alignment,
        cut=study.cache.cut,
        count_running=study.cache.count_running,
        cache=study.cache.kind,
        states_per_prefix=study.cache.states_per_prefix,
        queue_limit=study.server.queue_limit,
        horizon_seconds=study.server.horizon,
        check_every_request=check,
    )


def profile_named(name: str, draw: int | None = None) -> Profile:
    """Return a cost profile by name or path, or a draw of its coefficients.

    A study asks for the same few again and again: they are remembered while their file stays as
    it is.

    Raises
    ------
    SettingError, DataError
        When there is none of this name, it does not validate, or it has no such draw.
    """
    from calibration.catalogue import profile_file

    return _opened(profile_file(name) or name, name, draw)


def profile_text(name: str, draw: int | None = None) -> str:
    """Return the JSON of a profile, or of a draw of its coefficients; errors as `profile_named`."""
    from calibration.catalogue import profile_file

    return _text(profile_file(name) or name, name, draw)


@remembered(maxsize=128)
def _text(file: str, name: str, draw: int | None) -> str:
    from simulator.costs.profile import profile_to_json

    del file  # that whose changes matter
    return profile_to_json(profile_named(name, draw))


@remembered(maxsize=128)
def _opened(file: str, name: str, draw: int | None) -> Profile:
    from calibration.catalogue import open_profile
    from simulator.costs.profile import drawn

    del file  # that whose changes matter
    try:
        return open_profile(name) if draw is None else drawn(profile_named(name), draw)
    except SettingError:
        raise
    except UsageError as error:
        raise SettingError("model.profile", str(error)) from error


def canonical_policies(study: ResolvedStudy) -> ResolvedStudy:
    """Return the study with every policy in its one spelling.

    Raises
    ------
    PolicyError
        For a policy that cannot be made.
    """
    from policies.registry import canonical

    spelled = {}
    for kind, spec in study.policy.model_dump().items():
        try:
            spelled[kind] = canonical(kind, spec)
        except UsageError as error:
            raise PolicyError(kind, str(error)) from error
    return study.model_copy(update={"policy": study.policy.model_copy(update=spelled)})
