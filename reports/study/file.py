"""The study file: what is unknown or contradictory in it becomes one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from policies.pools import names_pools
from reports.study.generated import (
    MEMBER,
    as_knob,
    contradiction,
    generator_fields,
    mixture,
    refuse_bad_traffic,
    refuse_two_workloads,
    shown,
)
from reports.study.sections import (
    GRID_SECTIONS,
    NOT_IN_GRID,
    READ_OPTIONS,
    PolicySection,
    ResolvedStudy,
)
from reports.study.settings import Settings
from reports.study.workload_grid import WORKLOADS
from simulator.base.errors import UsageError, did_you_mean, printable


def parse_study(settings: Settings) -> ResolvedStudy:
    """Return the study that the settings describe.

    Raises
    ------
    UsageError
        For an unknown key ("did you mean"), or a value that is not what its key expects.
    """
    for key in settings.values:
        if f"grid.{key}" in settings.values:
            raise settings.problem(key, " is both set and varied by the grid")
    knobs = generator_fields()
    tables: dict[str, Any] = {"workload": {"knobs": {}}, "grid": {}}
    members = {}
    for key, value in settings.values.items():
        section, dot, name = key.partition(".")
        if key.startswith(MEMBER):
            members[key.removeprefix(MEMBER)] = value
            continue
        _refuse_unknown(settings, key, value, knobs)
        if not dot:
            if value != {}:
                tables[key] = value
        elif section == "workload" and name in knobs:
            tables["workload"]["knobs"][name] = as_knob(value, knobs[name])
        else:
            tables.setdefault(section, {})[name] = value
    if members:
        tables["workload"]["generator"] = mixture(settings, members)
    try:
        study = ResolvedStudy.model_validate(tables)
    except ValidationError as error:
        raise _first_problem(settings, error) from error
    study = _with_order_of_entries(settings, study)
    _refuse_contradictions(settings, study)
    workload = study.workload
    refuse_bad_traffic(settings, workload.generator, workload.knobs, study.arrivals.process)
    return study


def known_keys(generator: Mapping[str, Any]) -> list[str]:
    """Return every dotted key of a study file, those of the grid excepted."""
    keys = ["title"]
    for section, field in ResolvedStudy.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys += [f"{section}.{name}" for name in kind.model_fields if name != "knobs"]
    return keys + [f"workload.{name}" for name in generator]


def grid_keys(generator: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys that a grid may vary."""
    known = known_keys(generator)
    inside = (key for key in known if key.partition(".")[0] in GRID_SECTIONS)
    return [WORKLOADS, *(key for key in inside if key not in NOT_IN_GRID)]


def _refuse_unknown(settings: Settings, key: str, value: Any, generator: Mapping[str, Any]) -> None:
    if value == {} and key in ResolvedStudy.model_fields:
        return
    if key in ResolvedStudy.model_fields and key != "title":
        raise settings.problem(key, f" is a section, found {shown(value)}")
    in_grid = key.startswith("grid.")
    known = grid_keys(generator) if in_grid else known_keys(generator)
    if key.removeprefix("grid.") in known:
        return
    hint = did_you_mean(key.removeprefix("grid."), known)
    place = "key of the grid" if in_grid else "key"
    name = printable(key.removeprefix("grid."))
    line = settings.line(key)
    raise UsageError(f"{settings.origin(key)}: unknown {place} '{name}'{hint}{line}")


def _first_problem(settings: Settings, error: ValidationError) -> UsageError:
    problem = error.errors()[0]
    parts = [str(part) for part in problem["loc"]]
    known = [key for key in settings.values if key.split(".") == parts[: len(key.split("."))]]
    grid = f"grid.{parts[1]}" if parts[0] == "grid" and len(parts) > 1 else ""
    key = grid or next(iter(known), ".".join(parts[:2]))
    names_value = problem["type"] == "value_error"  # by a parser of ours, which names what it found
    tail = "" if names_value else f", found {shown(problem['input'])}"
    return settings.problem(key, f": {_expected(problem['msg'])}{tail}")


def _expected(message: str) -> str:
    """Return what a setting should be, in the wording of Milepost's messages."""
    message = message.removeprefix("Value error, ").replace("Input should be", "expected")
    message = re.sub(r" after validation, not \d+$", "", message)
    if "unable to parse raw data as a unicode string" in message:
        return "expected UTF-8 text"
    counted = re.fullmatch(r"(String|List) should have (.+)", message)
    return f"expected a {counted[1].lower()} of {counted[2]}" if counted else message


def _with_order_of_entries(settings: Settings, study: ResolvedStudy) -> ResolvedStudy:
    """Return the study with the one order in which entries leave, where the cache has those.

    Raises
    ------
    UsageError
        Where another eviction or admission policy is asked for, split pools, or room for running
        requests.
    """
    if study.cache.kind == "tree":
        return study
    policy, cache = study.policy, study.cache
    refused = {
        "policy.eviction": policy.eviction not in {"fifo", PolicySection().eviction},
        "policy.admission": policy.admission != "always",
        "cache.pools": cache.pools != "unified",
        "cache.count_running": cache.count_running,
    }
    for key, asked in refused.items():
        if asked and key not in study.grid:
            raise contradiction(settings, key, f"cache.kind = '{cache.kind}'")
    return study.model_copy(update={"policy": policy.model_copy(update={"eviction": "fifo"})})


def _refuse_contradictions(settings: Settings, study: ResolvedStudy) -> None:
    """Refuse settings that contradict each other."""
    workload = study.workload
    trace = workload.trace is not None
    if trace and workload.builtin:
        raise contradiction(settings, "workload.trace", "workload.builtin = true")
    if workload.builtin is False and not trace:
        raise UsageError(f"{settings.origin('workload.builtin')}: no workload.trace is given")
    refuse_two_workloads(settings, workload.model_dump(exclude_none=True))
    for name in ("format", *READ_OPTIONS):
        if not trace and getattr(workload, name) is not None:
            problem = " is about a trace file, but no workload.trace is given"
            raise settings.problem(f"workload.{name}", problem)
    most = study.study.max_replications
    if most is not None and study.study.until_ci is None:
        problem = " is about study.until_ci, which is not given"
        raise settings.problem("study.max_replications", problem)
    if most is not None and most < study.study.replications:
        raise contradiction(settings, "study.max_replications", "a higher study.replications")
    _refuse_policies_of_pools(settings, study)
    if study.server.timeless:
        for name in ("queue_limit", "horizon"):
            if getattr(study.server, name) is not None:
                raise contradiction(settings, f"server.{name}", "server.kind = 'instant'")


def _refuse_policies_of_pools(settings: Settings, study: ResolvedStudy) -> None:
    """Refuse an eviction policy for each pool where there is one pool; the grid may vary both."""
    pools = "cache.pools"
    unified = study.cache.pools == "unified" and pools not in study.grid
    if unified and names_pools(study.policy.eviction):
        raise settings.problem(
            "policy.eviction", f" has a policy for each pool: expected {pools} = 'split:states=...'"
        )
