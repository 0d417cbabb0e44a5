"""Chat templates by name or file: they render messages to the text that a model is given.

A prompt is always rendered as a whole, since templates may change earlier turns: the next prompt of
a chat need not begin with the previous one.
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
            For messages that the template refuses.
        """
        ...

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes after that prompt, without the token that ends a turn.

        That token is sampled, but the model is never run on it.
        """
        ...

    def opens_reasoning(self) -> bool:
        """Return whether every answer begins with reasoning, possibly empty."""
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
    """Return a chat template by name or file.

    Parameters
    ----------
    name
        A key of `TEMPLATES`, with its parameters as in `qwen3.5:thinking=false`; or a file: a
        Jinja template, or a `tokenizer_config.json` that contains one, with variables of the
        template as in `template.jinja:enable_thinking=false`. None means `chatml`.

    Raises
    ------
    UsageError
        For an unknown name or parameter.
    DataError
        For a file without a template.
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
    """Return the string that describes a template; for a file, its name without folders."""
    if type(template) in TEMPLATES.values():
        return name_of(TEMPLATES, template)
    return str(template)


def template_file(name: str | None) -> Path | None:
    """Return the file that a template is read from, None for a known name."""
    if name is None or name.partition(":")[0].strip() in TEMPLATES:
        return None
    return _split(name)[0]


def _split(name: str) -> tuple[Path | None, str]:
    """Return the file and the variables in a string, None and "" if it names no file."""
    if exists(name):
        return Path(name), ""
    file, _, variables = name.rpartition(":")
    return (Path(file), variables) if exists(file) else (None, "")
