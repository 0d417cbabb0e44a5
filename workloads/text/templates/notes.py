"""Notes on the chat template in traces, and the template's name read from such notes."""

from __future__ import annotations

from collections.abc import Iterable

from workloads.options import ReadOptions
from workloads.text.templates import Template, name_of_template

_SAYS = "the chat template is "
_SHOWN = {"chatml": "ChatML"}


def template_notes(template: Template, options: ReadOptions) -> list[str]:
    """Return notes for a trace on its chat template, and why that was used."""
    name = name_of_template(template)
    notes = [f"{_SAYS}{_SHOWN.get(name, name)}"]
    if options.template is None and options.default_template is not None:
        notes.append("that is the template of the profile's model: --template names another")
    if template.opens_reasoning():
        notes.append("every answer is taken to begin with reasoning")
    return notes


def default_template_remark(options: ReadOptions) -> str | None:
    """Return a warning where no option names the template, else None."""
    if options.template is not None or options.default_template is not None:
        return None
    return "messages are rendered as ChatML, as no model is named here: --template names another"


def noted_template(notes: Iterable[str]) -> str | None:
    """Return the name of the template in a trace's notes, None if there is none."""
    names = {shown: name for name, shown in _SHOWN.items()}
    mentioned = (note.removeprefix(_SAYS) for note in notes if note.startswith(_SAYS))
    return next((names.get(name, name) for name in mentioned), None)
