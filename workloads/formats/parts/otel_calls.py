"""Language model calls, as read from the attributes of spans."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from workloads.formats.parts.otel_messages import (
    INDEXED,
    NAMES,
    answer_message,
    has_prompt,
    prompt_messages,
    tools,
    with_events,
)
from workloads.formats.parts.otel_spans import Attributes, Span, SpanError, plain_attributes
from workloads.formats.parts.otel_tree import KIND_NAMES, Kind, kind_of
from workloads.prefixes.key_fields import place_of
from workloads.reading.fields import MAX_TOKENS, short
from workloads.sessions.cached_tokens import CountedTokens, Usual, group_of, usual_meaning
from workloads.text.chat_template import Message

PROMPT_TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.promptTokens",
)
ANSWER_TOKENS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.completionTokens",
)
READ_TOKENS = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.input_tokens_details.cached_tokens",
    "gen_ai.usage.prompt_tokens_details.cached_tokens",
    "gen_ai.usage.cached_tokens",
    "gen_ai.usage.cached_input_tokens",
    "gen_ai.usage.cached_content_token_count",
    "gen_ai.usage.cached_content_tokens",
    "gen_ai.usage.details.cached_content_tokens",
    "gen_ai.usage.cache_read_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
)
CREATED_TOKENS = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.input_tokens.cache_write",
    "gen_ai.usage.cache_write_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
)
# libraries that add Anthropic's cached tokens to its input tokens, as the conventions require
ADDING = ("opentelemetry.instrumentation.anthropic", "pydantic-ai")

_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id")
_SESSIONS = ("gen_ai.conversation.id", "session.id")  # the second is OpenInference's
_PROVIDERS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
_WHOLE = re.compile(r"-?\d{1,30}", re.ASCII)  # a whole number written as text


_USED = {
    *PROMPT_TOKENS,
    *ANSWER_TOKENS,
    *READ_TOKENS,
    *CREATED_TOKENS,
    *_MODELS,
    *_PROVIDERS,
    *NAMES,
    *KIND_NAMES,
    *_SESSIONS,
    "otel.status_code",
    "error",
}


class Sketch(NamedTuple):
    """What is known of a span before its messages are decoded.

    Parameters
    ----------
    kind
        What the span represents, such as a model call or a tool.
    asks
        Whether it is a call with a prompt or a prompt length.
    why
        For a call with neither, the kind of anomaly; else None.
    attributes
        Attributes by name, including those of its events and resource.
    group
        The group of calls whose tokens are counted alike.
    usual
        How that group usually counts cached tokens.
    """

    kind: Kind
    asks: bool
    why: str | None
    attributes: dict[str, Any]
    group: str
    usual: Usual


@dataclass(frozen=True, slots=True)
class SpanCall:
    """A language model call.

    `messages` is None if the span does not contain them. `counted` are the prompt's tokens as
    counted by the server, None if it reports none.
    """

    messages: list[Message] | None
    tools: list[Any]
    answer: Message | None
    counted: CountedTokens | None
    answer_tokens: int | None
    session: str | None
    model: str | None
    failed: bool
    key: dict[str, Any]
    unused: list[str]


def sketch(span: Span, scope: str | None, resource: Attributes = None) -> Sketch:
    """Return a span's kind and attributes; those of its resource apply to it too."""
    attributes = with_events(_around(resource) | span.named_attributes(), span.happened())
    provider, model = _text(attributes, _PROVIDERS), _text(attributes, _MODELS)
    kind = kind_of(span.title(), attributes)
    tells = has_prompt(attributes) or _first(attributes, PROMPT_TOKENS) is not None
    why = None
    if tells and kind == "no call":
        why = "no-generation"
    elif kind == "model" and not tells and any(name.startswith("gen_ai.") for name in attributes):
        why = "no-usage"
    group, usual = group_of(provider, model), usual_meaning(provider, model)
    if scope is not None and scope.startswith(ADDING):
        group, usual = scope[:200], Usual("inside", "their library adds them")
    return Sketch(kind, tells and why is None, why, attributes, group, usual)


def counted_in(attributes: dict[str, Any]) -> CountedTokens | None:
    """Return a prompt's tokens as counted by the server, None if it reports none.

    Raises
    ------
    SpanError
        If an attribute is no valid number of tokens.
    """
    tokens = _count(attributes, PROMPT_TOKENS)
    if tokens is None:
        return None
    return CountedTokens(
        tokens, _cached(attributes, READ_TOKENS), _cached(attributes, CREATED_TOKENS)
    )


def answer_tokens_in(attributes: dict[str, Any]) -> int | None:
    """Return the tokens of the answer, None if unknown; errors as in `counted_in`."""
    return _count(attributes, ANSWER_TOKENS)


def is_used(name: str) -> bool:
    """Return whether an attribute of this name is ever read."""
    return name in _USED or name.startswith(INDEXED)


def call_of(span: Span, known: Sketch) -> SpanCall:
    """Return the call that a span represents.

    Raises
    ------
    SpanError
        For an attribute with an invalid value.
    """
    attributes = known.attributes
    session = _text(attributes, _SESSIONS) or span.trace()
    messages = prompt_messages(attributes)
    return SpanCall(
        messages=messages,
        tools=[] if messages is None else tools(attributes),
        answer=answer_message(attributes),
        counted=counted_in(attributes),
        answer_tokens=answer_tokens_in(attributes),
        session=session,
        model=_text(attributes, _MODELS),
        failed=span.failed(attributes),
        key={name: value for name, value in attributes.items() if place_of(name) is not None},
        unused=[name for name in attributes if not is_used(name) and place_of(name) is None],
    )


def _around(resource: Attributes) -> dict[str, Any]:
    """Return a resource's attributes that apply to its calls: model, adapter, salt, provider."""
    named = plain_attributes(resource) if resource else {}
    return {name: value for name, value in named.items() if holds_for_calls(name)}


def holds_for_calls(name: str) -> bool:
    """Return whether an attribute of a resource applies to the calls in it."""
    place = place_of(name)
    return name in _MODELS or name in _PROVIDERS or (place is not None and place[0] != "media")


def _cached(attributes: dict[str, Any], names: tuple[str, ...]) -> int:
    tokens = _count(attributes, names) or 0
    if not 0 <= tokens <= MAX_TOKENS:
        name = _first(attributes, names) or names[0]
        raise SpanError((name, f"expected 0 to {MAX_TOKENS:,} tokens, found {short(tokens)}"))
    return tokens


def _count(attributes: dict[str, Any], names: tuple[str, ...]) -> int | None:
    name = _first(attributes, names)
    if name is None:
        return None
    value = attributes[name]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise SpanError((name, f"expected a whole number, found {type(value).__name__}"))
    return value


def _first(attributes: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if attributes.get(name) is not None), None)


def _text(attributes: dict[str, Any], names: tuple[str, ...]) -> str | None:
    there = (attributes.get(name) for name in names)
    return next((value[:200] for value in there if isinstance(value, str) and value), None)
