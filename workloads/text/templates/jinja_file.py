"""Chat templates in files: Jinja, alone or in a `tokenizer_config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from simulator.base.errors import DataError, UsageError, printable
from workloads.reading.reader import read_text
from workloads.text.chat_template import Message, content_text, plain_text
from workloads.text.templates.rendering import RenderError, arguments_of, split_reasoning

if TYPE_CHECKING:
    import jinja2

    from workloads.text.templates.sandbox import BoundedEnvironment

MOST_BYTES = 16 << 20
CONFIG, BESIDE = "tokenizer_config.json", "chat_template.jinja"

_ENDS = ("<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>", "<end_of_turn>")


@dataclass(frozen=True, slots=True)
class _Source:
    """The contents of a file: templates by name, and the tokens that begin and end a text."""

    templates: dict[str, str]
    marks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JinjaFile:
    """A Jinja template rendered as by transformers; a server would pass it `variables`."""

    path: Path
    variables: dict[str, Any]
    marks: dict[str, str]
    environment: BoundedEnvironment
    plain: jinja2.Template
    with_tools: jinja2.Template
    last: list[Any] = field(
        default_factory=list, compare=False
    )  # the last messages and their prompt
    begins: list[bool] = field(
        default_factory=list, compare=False
    )  # whether answers begin with reasoning, once known

    def __str__(self) -> str:
        shown = ",".join(f"{name}={value}" for name, value in self.variables.items())
        name = printable(self.path.name)
        return f"{name}:{shown.lower()}" if shown else name

    def prompt(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the whole prompt, up to where the model begins to write."""
        text = self._render(messages, tools, begun=True)
        self.last[:] = [messages, text]
        return text

    def answer(self, messages: Sequence[Message], tools: Sequence[Any], answer: Message) -> str:
        """Return what the model writes: the text that the template adds once the answer is known.

        Some templates, such as that of DeepSeek-R1, drop the reasoning of an answer at once; then
        its reasoning and text are returned without the template.
        """
        known = self.last and self.last[0] is messages
        prompt = self.last[1] if known else self.prompt(messages, tools)
        whole = self._render([*messages, answer], tools, begun=False)
        if not whole.startswith(prompt):
            return _as_it_is(answer, prompt)
        return _without_end(whole[len(prompt) :], self.marks.get("eos_token"))

    def opens_reasoning(self) -> bool:
        """Return whether a rendered prompt ends with the start of reasoning."""
        if not self.begins:
            try:
                text = self._render([Message("user", "x")], (), begun=True)
            except RenderError:
                text = ""
            self.begins.append(text.rstrip().endswith("<think>"))
        return self.begins[0]

    def _render(self, messages: Sequence[Message], tools: Sequence[Any], *, begun: bool) -> str:
        from jinja2.exceptions import SecurityError

        template = self.with_tools if tools else self.plain
        self.environment.steps = 0
        try:
            return template.render(
                {
                    "messages": [_as_dict(message) for message in messages],
                    "tools": list(tools) or None,
                    "documents": None,
                    "add_generation_prompt": begun,
                    **self.marks,
                    **self.variables,
                }
            )
        except (RecursionError, MemoryError):
            raise DataError(str(self.path), "the template goes too deep") from None
        except SecurityError as error:
            raise DataError(str(self.path), f"the template {_line(error)}") from None
        except Exception as error:  # a template can raise any exception
            raise RenderError(f"the chat template refuses it: {_line(error)}") from None


def files_of(path: Path) -> list[Path]:
    """Return the files that a template may be read from: the given one and one beside it."""
    path = _file(path)
    return [file for file in dict.fromkeys((path, path.parent / BESIDE)) if file.is_file()]


def read_template(path: Path, variables: str = "") -> JinjaFile:
    """Load a template, from a folder's `chat_template.jinja` or `tokenizer_config.json` too.

    Raises
    ------
    DataError
        For a file without a template, or with one that is no valid Jinja.
    UsageError
        For variables that are not written as `key=value`.
    """
    from jinja2 import TemplateError

    from workloads.text.templates.sandbox import BoundedEnvironment

    given = _read_variables(variables)
    path = _file(path)
    source = _read_source(path)
    environment = BoundedEnvironment()
    plain = source.templates.get("default") or next(iter(source.templates.values()))
    tools = source.templates.get("tool_use", plain)
    try:
        made, made_for_tools = environment.from_string(plain), environment.from_string(tools)
    except (TemplateError, RecursionError, SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise DataError(str(path), f"is no usable template: {_line(error)}", line=line) from None
    return JinjaFile(path, given, source.marks, environment, made, made_for_tools)


def _file(path: Path) -> Path:
    """Return the file of a template; for a folder, the template file in it."""
    if not path.is_dir():
        return path
    return path / (BESIDE if (path / BESIDE).exists() else CONFIG)


def _read_source(path: Path) -> _Source:
    text = read_text(path)
    if len(text) > MOST_BYTES:
        raise DataError(str(path), f"the template is over the limit of {MOST_BYTES >> 20} MiB")
    if path.suffix == ".json":
        return _from_json(path, text)
    try:
        return _Source({"default": text.decode()})
    except UnicodeDecodeError:
        raise DataError(str(path), "expected a template in UTF-8") from None


def _from_json(path: Path, text: bytes) -> _Source:
    try:
        config = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DataError(str(path), "expected JSON with a chat template, found no JSON") from None
    config = config if isinstance(config, dict) else {}
    marks = {name: _mark(config.get(name)) for name in ("bos_token", "eos_token")}
    known_marks = {name: mark for name, mark in marks.items() if mark is not None}
    template = config.get("chat_template")
    if isinstance(template, str):
        return _Source({"default": template}, known_marks)
    if isinstance(template, list):
        named = {
            str(item.get("name")): item["template"]
            for item in template
            if isinstance(item, dict) and isinstance(item.get("template"), str)
        }
        if named:
            return _Source(named, known_marks)
    beside = path.parent / BESIDE
    if template is None and beside.exists():
        return _Source(_read_source(beside).templates, known_marks)
    raise DataError(
        str(path), f"expected a template here, or in '{BESIDE}' beside it", field="chat_template"
    )


def _mark(token: Any) -> str | None:
    """Return the text of a token, given as text or as an object; None otherwise."""
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else None


def _read_variables(text: str) -> dict[str, Any]:
    known: dict[str, Any] = {"true": True, "false": False, "none": None}
    variables: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key.isidentifier():
            raise UsageError(f"template: expected key=value, found '{printable(item, 60)}'")
        variables[key] = known.get(value.lower(), int(value) if value.isdecimal() else value)
    return variables


def _as_dict(message: Message) -> dict[str, Any]:
    """Return a message as servers pass it to a template."""
    fields = msgspec.structs.asdict(message)
    present = {name: value for name, value in fields.items() if value is not None}
    present.setdefault("content", "")
    calls = message.calls()
    if calls:
        present["tool_calls"] = [
            {
                "type": "function",
                "function": {"name": call.name or "", "arguments": arguments_of(call)},
            }
            for call in calls
        ]
    return present


def _as_it_is(answer: Message, prompt: str) -> str:
    """Return an answer's reasoning and text unchanged, for templates that would change them."""
    text, reasoning = plain_text(answer), answer.reasoning_text()
    if reasoning is None:
        reasoning, text = split_reasoning(content_text(answer))
    if prompt.rstrip().endswith("<think>"):
        return f"{reasoning}\n</think>\n\n{text}"
    return f"<think>\n{reasoning}\n</think>\n\n{text}" if reasoning else text


def _without_end(text: str, mark: str | None) -> str:
    """Return an answer without the token that ends its turn."""
    for end in (*_ENDS, mark):
        if end and text.rstrip().endswith(end):
            return text.rstrip().removesuffix(end)
    return text


def _line(error: BaseException) -> str:
    message = " ".join(str(error).split())
    return printable(message, 200) or type(error).__name__
