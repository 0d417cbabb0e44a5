"""Chat templates by name or file: from messages to the text that a server gives its model.

A prompt is rendered as a whole: templates look back, so that the next prompt of a chat need not
begin with the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from simulator.base.errors import UsageError, printable
from simulator.base.parameters import create_named, name_of
from workloads.reading.files import exists
from workloads.text.chat_template import Message
from workloads.text.templates.chatml import ChatMl
from workloads.text.templates.llama3 import Llama3
from workloads.text.templates.plain import Plain
from workloads.text.templates.qwen3 import Qwen3
from workloads.text.templates.qwen3_5 import Qwen35, Qwen36
from workloads.text.templates.rendering import RenderError

__all__ = ["DEFAULT", "TEMPLATES", "RenderError", "Template", "name_of_template", "template_for"]

DEFAULT = "chatml"


class Template(Protocol):
    """A chat template."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write.

        Raises
        ------
        RenderError
            Where the template refuses the messages.
        """
        ...

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes behind that prompt, without the mark that ends a turn.

        The mark is sampled, but the model is never run on it.
        """
        ...

    def opens_reasoning(self) -> bool:
        """Say whether every answer begins with reasoning, be it empty."""
        ...


TEMPLATES: dict[str, type[Template]] = {
    "qwen3.5": Qwen35,
    "qwen3.6": Qwen36,
    "qwen3": Qwen3,
    "chatml": ChatMl,
    "llama3": Llama3,
    "plain": Plain,
}


def template_for(name: str | None) -> Template:
    """Return a template.

    Parameters
    ----------
    name
        A key of `TEMPLATES`, with its parameters as in `qwen3.5:thinking=false`; or a file: a
        Jinja template, or a `tokenizer_config.json` that holds one, with variables of the
        template as in `template.jinja:enable_thinking=false`. None stands for `chatml`.

    Raises
    ------
    UsageError
        For an unknown name or parameter.
    DataError
        For a file that holds no template.
    """
    name = DEFAULT if name is None else name
    if name.partition(":")[0].strip() in TEMPLATES:
        return create_named("template", TEMPLATES, name)
    file, variables = _split(name)
    if file is None:
        raise UsageError(
            f"template: '{printable(name, 80)}' is no file, and no known name "
            f"({', '.join(TEMPLATES)})"
        )
    from workloads.text.templates.jinja_file import read_template

    return read_template(file, variables)


def name_of_template(template: Template) -> str:
    """Return the string that names a template; of a file, the name without its folders."""
    if type(template) in TEMPLATES.values():
        return name_of(TEMPLATES, template)
    return str(template)


def template_file(name: str | None) -> Path | None:
    """Return the file that a template is read from, None for a known name."""
    if name is None or name.partition(":")[0].strip() in TEMPLATES:
        return None
    return _split(name)[0]


def _split(name: str) -> tuple[Path | None, str]:
    """Return the file that a string names, if there is one, and the variables behind it."""
    if exists(name):
        return Path(name), ""
    file, _, variables = name.rpartition(":")
    return (Path(file), variables) if exists(file) else (None, "")
