"""The chat template of a study, by default that of the profile's model."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from reports.study.scenario import profile_named
from reports.study.sections import ResolvedStudy
from simulator.base.errors import printable
from simulator.trace.trace import Trace


def model_template(study: ResolvedStudy) -> str:
    """Return the name of the template that the model of the profile is served with."""
    return template_of_profile(study.model.profile)


def template_of_profile(profile: str) -> str:
    """Return the name of the template that the model of a profile is served with.

    Raises
    ------
    UsageError, DataError
        Where there is no such profile.
    """
    from workloads.text.templates.models import template_of_model

    return template_of_model(profile_named(profile).model.name)


def default_template(study: ResolvedStudy) -> dict[str, str]:
    """Return the default chat template if a stored workload depends on it; most files do not.

    A saved trace is rendered already, and many formats hold no messages.
    """
    workload = study.workload
    if workload.template is not None or workload.trace is None:
        return {}
    if not _holds_messages(workload.trace, workload.format):
        return {}
    return {"template of the model": model_template(study)}


def template_contents(template: str) -> dict[str, str]:
    """Return the sha256 of the files of a template; nothing for a built-in template."""
    from workloads.text.templates import template_file
    from workloads.text.templates.jinja_file import files_of

    file = template_file(template)
    if file is None:
        return {}
    hashes = (hashlib.sha256(part.read_bytes()).hexdigest() for part in files_of(file))
    return {"template file": " ".join(hashes)}


def with_template_warning(trace: Trace, study: ResolvedStudy) -> Trace:
    """Return a saved trace, with a note if its chat template is not that of its model.

    What is read from its source is rendered as wanted.
    """
    from workloads.opening import is_saved
    from workloads.text.templates import name_of_template, template_for
    from workloads.text.templates.notes import noted_template

    made = noted_template(trace.notes)
    if made is None or study.workload.trace is None or not is_saved(Path(study.workload.trace)):
        return trace
    stated, model = study.workload.template, profile_named(study.model.profile).model.name
    wanted = name_of_template(template_for(stated or model_template(study)))
    if wanted == made:
        return trace
    who = f"{printable(model)} is served with" if stated is None else "--template asks for"
    warning = (
        f"warning: the trace was rendered with {made} when it was saved, and {who} {wanted}: "
        f"prompts overlap otherwise there; convert its source again with --template {wanted}"
    )
    return replace(trace, notes=(*trace.notes, warning))


@lru_cache(maxsize=64)
def _holds_messages(path: str, format: str | None) -> bool:
    """Say whether a file holds messages that a template is to render."""
    from workloads.opening import renders_messages

    return renders_messages(Path(path), format)
