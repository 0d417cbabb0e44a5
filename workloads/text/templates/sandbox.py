"""Jinja as set up by transformers, for templates that are not trusted.

transformers renders chat templates in an immutable sandbox, which keeps them from running Python.
This one also bounds their run time and output: steps of loops and macros are counted, and
operations that make long text or large numbers out of short ones are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_STEPS = 300_000  # of loops and macros; a message takes a few
MOST_CHARACTERS = 64 << 20  # of any text
MOST_ITEMS = 1 << 20  # of any list
MOST_NUMBER = 100_000  # as an argument of a filter or a method, such as a width
_JOINED = "texts with ~"  # the name of a filter that no template can contain
_WIDTH = re.compile(r"\d{6}|\{[^{}]*\{|%[^a-zA-Z%]*\*")
TODAY = datetime(2024, 7, 26)  # the default date of Llama's template


class Generation(Extension):
    """The tag `generation`, which marks answers for training; its content is kept as it is."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """Return the content of the tag."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which every template terminates."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
        )
        self.steps = 0
        self.filters = {name: _bounded(known) for name, known in self.filters.items()}
        self.filters["tojson"] = _to_json
        self.filters[_JOINED] = _joined
        del self.globals["lipsum"]
        self.globals["raise_exception"] = _raise
        self.globals["strftime_now"] = _strftime_now

    @property
    def step(self) -> str:
        """The empty text; reading it counts a step of a loop or a macro."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise SecurityError(f"takes more than {MOST_STEPS:,} steps")
        return ""

    def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call of the template, within bounds."""
        text = getattr(called, "__self__", None)
        if isinstance(text, str):
            _check(text, (*args, *kwargs.values()))
        return _short(super().call(context, called, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Any:
        """Return the method `format` of a text within bounds, None for anything else."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            _check_widths(value.__self__)
        return wrapped

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator such as `*`, with a bound on its size."""
        if operator == "**":
            raise SecurityError("uses the operator **")
        if operator == "%" and isinstance(left, str):
            _check_widths(left)
        if operator == "*" and _size(left) * _size(right) > MOST_CHARACTERS:
            raise SecurityError("multiplies by too much")
        return _short(super().call_binop(context, operator, left, right))

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """Insert the counting of steps into a template (a method that Jinja allows to override)."""
        counted: list[nodes.For | nodes.Macro | nodes.CallBlock] = [
            *source.find_all(nodes.For),
            *source.find_all(nodes.Macro),
            *source.find_all(nodes.CallBlock),
        ]
        for node in counted:
            node.body.insert(0, nodes.Output([nodes.EnvironmentAttribute("step")]))
        for block in source.find_all(nodes.AssignBlock):
            if block.filter is None:
                block.filter = nodes.Filter(None, "string", [], [], None, None)
        _replace_concatenations(source)
        return super()._generate(source, *args, **kwargs)


def _replace_concatenations(node: nodes.Node) -> None:
    """Replace `a ~ b` by a filter that bounds the length of the result."""
    for field, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, field, [_replaced(item) for item in value])
        elif isinstance(value, nodes.Node):
            setattr(node, field, _replaced(value))


def _replaced(node: Any) -> Any:
    if not isinstance(node, nodes.Node):
        return node
    _replace_concatenations(node)
    if not isinstance(node, nodes.Concat):
        return node
    return nodes.Filter(nodes.List(node.nodes), _JOINED, [], [], None, None)


def _joined(parts: Iterable[Any]) -> str:
    """Return the concatenated texts of an expression with `~`."""
    text = "".join(map(str, parts))
    _short(text)
    return text


def _bounded(known: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter whose arguments and result are bounded."""

    @wraps(known)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        at = next((at for at, value in enumerate(args) if isinstance(value, str)), None)
        text = "" if at is None else args[at]
        if known.__name__ == "do_format":
            _check_widths(text)
        others = [value for place, value in enumerate(args) if place != at]
        _check(text, (*others, *kwargs.values()))
        return _short(known(*args, **kwargs))

    return filtered


def _check(text: str, given: Iterable[Any]) -> None:
    """Raise `SecurityError` for arguments with which a text could grow too long."""
    if any(isinstance(value, int) and abs(value) > MOST_NUMBER for value in given):
        raise SecurityError(f"asks for more than {MOST_NUMBER:,}")
    longest = max((len(value) for value in given if isinstance(value, str)), default=0)
    if (len(text) + 1) * longest > MOST_CHARACTERS:
        raise SecurityError("makes a text that is too long")


def _check_widths(written: str) -> None:
    """Raise `SecurityError` for a format with a width of many digits or from an argument."""
    if _WIDTH.search(written):
        raise SecurityError("asks for a very wide text")


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        raise SecurityError("makes a text that is too long")
    if isinstance(value, list | tuple) and len(value) > MOST_ITEMS:
        raise SecurityError("makes a list that is too long")
    return value


def _size(value: Any) -> float:
    """Return the factor by which an operand can make the other longer."""
    return abs(value) if isinstance(value, int | float) else max(len(value), 1)


def _raise(message: Any) -> None:
    raise TemplateError(str(message))


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _strftime_now(written: Any) -> str:
    """Return a fixed date in the format that a template asks for.

    With today's date, a file would give another trace every day.
    """
    return TODAY.strftime(str(written)[:100])
