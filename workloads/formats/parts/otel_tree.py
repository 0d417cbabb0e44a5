"""The tree of spans, and which of them are calls or only sum up the calls below.

Agents, workflows and wrapping libraries write a span around their calls, often with the sum of
their tokens. A span with calls below it is therefore not a call itself, with two exceptions, which
do not apply to spans of agents and the like or to spans with the summed tokens of several calls:

- the spans below began after it had ended: turns of a conversation, each below the one before;
- it is a model's span and a tool lies between: the tool has called a model again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["model", "tool", "around", "no call", "unknown"]

_KINDS: dict[str, Kind] = {
    "chat": "model",
    "completion": "model",
    "text_completion": "model",
    "generate_content": "model",
    "call_llm": "model",
    "llm": "model",
    "invoke_agent": "around",
    "create_agent": "around",
    "invoke_workflow": "around",
    "agent": "around",
    "chain": "around",
    "workflow": "around",
    "task": "around",
    "execute_tool": "tool",
    "tool": "tool",
    "embeddings": "no call",
    "embedding": "no call",
    "retriever": "no call",
    "retrieval": "no call",
    "reranker": "no call",
    "rerank": "no call",
}
_OPERATION = "gen_ai.operation.name"
KIND_NAMES = (_OPERATION, "openinference.span.kind", "gen_ai.span.kind", "traceloop.span.kind")


def kind_of(name: str, attributes: dict[str, Any]) -> Kind:
    """Return what a span of this name and these attributes represents, such as a model call."""
    words = [attributes.get(attribute) for attribute in KIND_NAMES]
    kind = next((word for word in words if isinstance(word, str) and word), None)
    return _KINDS.get((kind or name.partition(" ")[0]).lower(), "unknown")


class SpanNode(NamedTuple):
    """A span that looks like a call: nanoseconds since 1970, and tokens of prompt and answer."""

    kind: Kind
    start: int | None = None
    end: int | None = None
    tokens: tuple[int, int] | None = None


@dataclass(slots=True)
class _Below:
    """Number and token counts of the nearest calls below a span."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    within: bool = False  # whether one of them is a part of the span


class _Above(NamedTuple):
    """The nearest span above a given one that looks like a call, if any.

    `through_tool` is whether a tool's span lies between the two.
    """

    key: str | None
    through_tool: bool


@dataclass(slots=True)
class SpanTree:
    """The parents and calls of all spans, in whatever order the file has them."""

    parents: dict[str, str | None] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    nodes: dict[str, SpanNode] = field(default_factory=dict)
    below: defaultdict[str, _Below] = field(default_factory=lambda: defaultdict(_Below))
    known: dict[str, _Above] = field(default_factory=dict)

    def see(self, key: str | None, parent: str | None, kind: Kind, node: SpanNode | None) -> None:
        """Register a span, with a node where it looks like a call.

        A span without an id of its own has no spans below it and is ignored.
        """
        if key is None or key in self.parents:
            return
        self.parents[key] = parent
        if kind == "tool":
            self.tools.add(key)
        if node is not None:
            self.nodes[key] = node

    def settle(self) -> None:
        """Sum up the nearest calls below each span, once all spans are registered."""
        for key, node in self.nodes.items():
            above = self._above(key)
            if above.key is None or above.key == key:
                continue
            around, below = self.nodes[above.key], self.below[above.key]
            prompt_tokens, answer_tokens = node.tokens or (0, 0)
            below.calls += 1
            below.prompt_tokens += prompt_tokens
            below.answer_tokens += answer_tokens
            later = node.start is not None and around.end is not None and node.start >= around.end
            by_tool = above.through_tool and around.kind == "model"
            below.within = below.within or not (later or by_tool)

    def is_aggregate(self, key: str | None) -> bool:
        """Return whether a span that looks like a call only sums up the calls below."""
        if key is None or key not in self.below:
            return False
        node, below = self.nodes[key], self.below[key]
        if node.kind in {"around", "tool"} or below.within:
            return True
        return below.calls > 1 and node.tokens == (below.prompt_tokens, below.answer_tokens)

    def _above(self, key: str) -> _Above:
        """Return the nearest span above that looks like a call, cached for all spans on the way."""
        passed: list[str] = []
        on_the_way = {key}
        at = self.parents[key]
        while at is not None and at not in self.nodes and at not in self.known:
            if at in on_the_way:  # a cycle
                at = None
                break
            on_the_way.add(at)
            passed.append(at)
            at = self.parents.get(at)
        above = _Above(None, False)
        if at is not None:
            above = _Above(at, at in self.tools) if at in self.nodes else self.known[at]
        for inner in reversed(passed):
            above = above._replace(through_tool=above.through_tool or inner in self.tools)
            self.known[inner] = above
        return above
