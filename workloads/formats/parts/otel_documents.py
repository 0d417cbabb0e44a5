"""JSON documents of OpenTelemetry, and the spans in them.

Supported are OTLP/JSON (`resourceSpans`, or `batches` in answers of Tempo), a document with
`spans`, Jaeger's `data` (a list of such documents), a list of any of these, and a single span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from workloads.formats.parts.otel_spans import Attributes, SpanError, plain_attributes
from workloads.reading.fields import MISSING
from workloads.reading.json_stream import decoded

Value = TypeVar("Value")

_NOTHING = msgspec.Raw()


class RawSpan(NamedTuple):
    """An undecoded span, the library that wrote it, and the attributes of its resource."""

    raw: msgspec.Raw
    scope: str | None
    resource: Attributes = None


class _Scope(msgspec.Struct, gc=False):
    name: str | None = None


class _ScopeSpans(msgspec.Struct, gc=False):
    spans: list[msgspec.Raw] = []
    scope: _Scope | None = None


class _Resource(msgspec.Struct, gc=False):
    attributes: Attributes = None


class _ResourceSpans(
    msgspec.Struct, gc=False, rename={"scopes": "scopeSpans", "old": "instrumentationLibrarySpans"}
):
    scopes: list[_ScopeSpans] = []
    old: list[_ScopeSpans] = []
    resource: _Resource | None = None

    def spans(self) -> Iterator[RawSpan]:
        """Yield the spans of all its scopes."""
        around = None if self.resource is None else plain_attributes(self.resource.attributes)
        for part in (*self.scopes, *self.old):
            scope = None if part.scope is None else part.scope.name
            yield from (RawSpan(raw, scope, around) for raw in part.spans)


class SpanDocument(
    msgspec.Struct,
    gc=False,
    rename={"resources": "resourceSpans", "logs": "resourceLogs", "metrics": "resourceMetrics"},
):
    """A JSON document with spans, in any of the supported shapes."""

    spans: list[msgspec.Raw] | None = None
    resources: list[_ResourceSpans] | None = None
    batches: list[_ResourceSpans] | None = None
    data: list[msgspec.Raw] | None = None
    logs: msgspec.Raw = _NOTHING
    metrics: msgspec.Raw = _NOTHING
    attributes: msgspec.Raw = _NOTHING
    tags: msgspec.Raw = _NOTHING

    def is_span(self) -> bool:
        """Return whether this is a single span rather than a document with spans."""
        return self.spans is None and (_there(self.attributes) or _there(self.tags))

    def is_known(self) -> bool:
        """Return whether it has any part that OpenTelemetry tools write."""
        parts = self.spans, self.resources, self.batches, self.data
        return any(part is not None for part in parts) or _there(self.logs) or _there(self.metrics)


_decode_document = msgspec.json.Decoder(SpanDocument).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def spans_in(text: bytes) -> list[RawSpan]:
    """Return the spans of a document in their order; documents of metrics and logs have none.

    Raises
    ------
    SpanError
        For a document that is broken or of another kind.
    """
    if text.lstrip()[:1] == b"[":
        return [span for each in _decoded(_decode_list, text) for span in _within(each)]
    return _within(text)


def _within(text: bytes | msgspec.Raw) -> list[RawSpan]:
    document = _decoded(_decode_document, text)
    if document.is_span():
        return [RawSpan(msgspec.Raw(bytes(text)), None)]
    if not document.is_known():
        raise SpanError(("spans", MISSING))
    traces = [_decoded(_decode_document, trace) for trace in document.data or ()]
    resources = [*(document.resources or ()), *(document.batches or ())]
    return [
        *(RawSpan(raw, None) for part in (document, *traces) for raw in part.spans or ()),
        *(span for resource in resources for span in resource.spans()),
    ]


def _decoded(decode: Callable[[bytes | msgspec.Raw], Value], text: bytes | msgspec.Raw) -> Value:
    value, problem = decoded(decode, text)
    if value is None:
        raise SpanError(problem or ("spans", MISSING))
    return value


def _there(part: msgspec.Raw) -> bool:
    return bytes(part) not in {b"", b"null"}
