"""Calls of language models, as spans tell of them."""

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
# libraries that add Anthropic's cached tokens to its input tokens, as the conventions ask
ADDING = ("opentelemetry.instrumentation.anthropic", "pydantic-ai")

_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id")
_SESSIONS = ("gen_ai.conversation.id", "session.id")  # the second is OpenInference's
_PROVIDERS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
_WHOLE = re.compile(r"-?\d{1,30}", re.ASCII)  # a number that stands as text


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
    """A span without its messages.

    `asks` says whether it is a call that tells its prompt or the length of it, `why` the kind of
    oddity where it is a call that does not. `group` are calls whose tokens are counted alike.
    """

    kind: Kind
    asks: bool
    why: str | None
    attributes: dict[str, Any]
    group: str
    usual: Usual


@dataclass(frozen=True, slots=True)
class SpanCall:
    """A call of a language model.

    `messages` is None where the span does not hold them; `counted` are the tokens that the
    server counted, None where it did not.
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
    """Return what can be said of a span at a glance; what the resource names holds for it too."""
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
    """Return the tokens of a prompt as the server counted them; None where it did not.

    Raises
    ------
    SpanError
        Where one of them is no number of tokens.
    """
    tokens = _count(attributes, PROMPT_TOKENS)
    if tokens is None:
        return None
    return CountedTokens(
        tokens, _cached(attributes, READ_TOKENS), _cached(attributes, CREATED_TOKENS)
    )


def answer_tokens_in(attributes: dict[str, Any]) -> int | None:
    """Return the tokens of the answer. Errors are those of `counted_in`."""
    return _count(attributes, ANSWER_TOKENS)


def is_used(name: str) -> bool:
    """Say whether an attribute is read, in some span at least."""
    return name in _USED or name.startswith(INDEXED)


def call_of(span: Span, known: Sketch) -> SpanCall:
    """Return the call that a span stands for.

    Raises
    ------
    SpanError
        Where an attribute does not hold what it should.
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
    """Return what a resource tells of all calls in it: their model, adapter, salt and provider."""
    named = plain_attributes(resource) if resource else {}
    return {name: value for name, value in named.items() if holds_for_calls(name)}


def holds_for_calls(name: str) -> bool:
    """Say whether an attribute of a resource counts for the calls in it."""
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
