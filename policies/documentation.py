"""Policy docstrings in their parts, as `milepost policies` shows them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

_EXAMPLES = "\n\nExamples\n--------\n"


@dataclass(frozen=True, slots=True)
class Documentation:
    """A docstring in its parts, each on one line but for the example.

    Parameters
    ----------
    summary
        Its first paragraph.
    explanation
        The paragraphs after it, up to the first section or the source.
    parameters
        The description of each parameter, by name.
    source
        What follows "Source:"; empty where there is none.
    example
        The lines of the section "Examples", which is the last one; empty where there is none.
    """

    summary: str = ""
    explanation: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    source: str = ""
    example: str = ""


def documentation_of(plugin: type) -> Documentation:
    """Read the docstring of the class itself, not an inherited one, which is of another policy.

    Only a parameter whose description begins with "As for" is looked up in the base classes.
    """
    prose, _, example = inspect.cleandoc(plugin.__doc__ or "").partition(_EXAMPLES)
    paragraphs = prose.split("\n\n")
    summary, *rest = paragraphs
    explanation: list[str] = []
    parameters: dict[str, str] = {}
    source = ""
    for number, paragraph in enumerate(rest):
        if paragraph.startswith("Parameters\n---"):
            parameters = _parameters("\n\n".join(rest[number:]).splitlines()[2:])
        elif paragraph.startswith("Source:"):
            source = _on_one_line(paragraph.removeprefix("Source:"))
        elif not parameters:
            explanation.append(_on_one_line(paragraph))
    for base in plugin.__mro__[1:]:  # "As for every ..." points to one of these
        if base.__doc__ and any(text.startswith("As for") for text in parameters.values()):
            inherited = documentation_of(base).parameters
            parameters = {
                name: inherited.get(name, text) if text.startswith("As for") else text
                for name, text in parameters.items()
            }
    return Documentation(_on_one_line(summary), tuple(explanation), parameters, source, example)


def _parameters(lines: list[str]) -> dict[str, str]:
    """Read a numpydoc section: names at the margin, their descriptions indented."""
    paragraphs: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if line.startswith("Source:"):
            break
        if line and not line.startswith(" "):
            name = line
            paragraphs[name] = []
        elif name:
            paragraphs[name].append(line)
    texts = {names: _on_one_line("\n".join(paragraph)) for names, paragraph in paragraphs.items()}
    return {name.strip(): text for names, text in texts.items() for name in names.split(",")}


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
