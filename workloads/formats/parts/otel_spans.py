"""Spans of OpenTelemetry in JSON, as written by any of several tools.

Supported are spans of OTLP/JSON, whose attributes are lists of keys and typed values; spans with an
object of attributes, as written by benchmarks, collectors and console exporters; and spans of
Jaeger, with tags and logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from workloads.reading.fields import Problem

Id = str | int | None
Attributes = dict[str, Any] | list[dict[str, Any]] | None

_FAILED = {2, "2", "ERROR", "STATUS_CODE_ERROR", "Error"}
_NS_PER_US = 1000


class SpanError(Exception):
    """Raised for a span that cannot be used; carries the field at fault and what is wrong."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem[1])
        self.problem = problem


class _Status(msgspec.Struct, gc=False):
    code: int | str | None = None
    status_code: int | str | None = None


class _Context(msgspec.Struct, gc=False):
    trace_id: Id = None
    span_id: Id = None


class _Reference(msgspec.Struct, gc=False, rename={"kind": "refType", "span_id": "spanID"}):
    kind: str | None = None
    span_id: Id = None


class _Event(msgspec.Struct, gc=False):
    name: str | None = None
    attributes: Attributes = None
    fields: Attributes = None  # Jaeger's


class Event(NamedTuple):
    """An event during a span."""

    name: str
    attributes: dict[str, Any]


class Span(
    msgspec.Struct,
    gc=False,
    rename={
        "otlp_trace_id": "traceId",
        "otlp_span_id": "spanId",
        "otlp_parent_id": "parentSpanId",
        "otlp_start": "startTimeUnixNano",
        "otlp_end": "endTimeUnixNano",
        "jaeger_trace_id": "traceID",
        "jaeger_span_id": "spanID",
        "jaeger_parent_id": "parentSpanID",
        "jaeger_name": "operationName",
        "jaeger_start": "startTime",
    },
):
    """A span in any supported shape."""

    attributes: Attributes = None
    tags: Attributes = None
    name: str | None = None
    jaeger_name: str | None = None
    trace_id: Id = None
    otlp_trace_id: Id = None
    jaeger_trace_id: Id = None
    span_id: Id = None
    otlp_span_id: Id = None
    jaeger_span_id: Id = None
    parent_span_id: Id = None
    parent_id: Id = None
    otlp_parent_id: Id = None
    jaeger_parent_id: Id = None
    context: _Context | None = None
    references: list[_Reference] | None = None
    start_time: str | None = None
    otlp_start: int | str | None = None
    start_time_unix_nano: int | str | None = None
    jaeger_start: int | str | None = None
    end_time: Any = None
    otlp_end: Any = None
    duration: Any = None
    status: _Status | str | None = None
    events: list[_Event] | None = None
    logs: list[_Event] | None = None

    def trace(self) -> str | None:
        """Return the id of its trace."""
        inner = None if self.context is None else self.context.trace_id
        name = self.trace_id or self.otlp_trace_id or self.jaeger_trace_id or inner
        return None if name is None else str(name)[:200]

    def key(self) -> str | None:
        """Return an id that is unique among all spans, None if it has none."""
        inner = None if self.context is None else self.context.span_id
        names = self.span_id, self.otlp_span_id, self.jaeger_span_id, inner
        return self._named(next((name for name in names if name not in {None, ""}), None))

    def parent(self) -> str | None:
        """Return the unique id of its parent span, None if there is none."""
        inside = (ref.span_id for ref in self.references or [] if ref.kind != "FOLLOWS_FROM")
        names = self.parent_span_id, self.otlp_parent_id, self.parent_id, self.jaeger_parent_id
        around = next((name for name in (*names, *inside) if name not in {None, ""}), None)
        return self._named(around)

    def _named(self, name: Id) -> str | None:
        return None if name is None else f"{self.trace() or ''}/{str(name)[:200]}"

    def title(self) -> str:
        """Return the name of the span."""
        return self.name or self.jaeger_name or ""

    def named_attributes(self) -> dict[str, Any]:
        """Return its attributes by name."""
        return plain_attributes(self.tags) | plain_attributes(self.attributes)

    def happened(self) -> Iterator[Event]:
        """Yield its events."""
        for event in (*(self.events or ()), *(self.logs or ())):
            values = plain_attributes(event.fields) | plain_attributes(event.attributes)
            yield Event(event.name or str(values.get("event", "")), values)

    def failed(self, attributes: dict[str, Any]) -> bool:
        """Return whether it ended in an error."""
        status = self.status
        codes = (status.code, status.status_code) if isinstance(status, _Status) else (status,)
        return (
            bool(_FAILED & {*codes, attributes.get("otel.status_code")})
            or attributes.get("error") is True
        )

    def start(self) -> tuple[str, int | str | None]:
        """Return the field with its start, and the start as a date or as nanoseconds since 1970.

        Raises
        ------
        SpanError
            For a value that is neither.
        """
        if self.otlp_start is not None or self.start_time_unix_nano is not None:
            value = self.start_time_unix_nano if self.otlp_start is None else self.otlp_start
            return "startTimeUnixNano", _nanoseconds(value)
        if isinstance(self.jaeger_start, int):
            if self.jaeger_trace_id is None or not 0 <= self.jaeger_start < 10**16:
                raise SpanError(("startTime", "expected microseconds since 1970, as Jaeger has"))
            return "startTime", self.jaeger_start * _NS_PER_US
        return "start_time", self.start_time or self.jaeger_start

    def end(self) -> int | str | None:
        """Return its end as a date or as nanoseconds since 1970, None if unknown."""
        if isinstance(self.jaeger_start, int) and isinstance(self.duration, int):
            return (self.jaeger_start + self.duration) * _NS_PER_US
        try:
            return _nanoseconds(self.otlp_end)
        except SpanError:
            return self.end_time if isinstance(self.end_time, str) else None


def _nanoseconds(value: Any) -> int | None:
    """Return nanoseconds since 1970, None for 0, which means unset."""
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        raise SpanError(("startTimeUnixNano", "expected nanoseconds since 1970"))
    return int(text) or None


def plain_attributes(attributes: Attributes) -> dict[str, Any]:
    """Return attributes by name, from either of their shapes."""
    if isinstance(attributes, dict):
        return attributes
    by_name = {}
    for entry in attributes or ():
        if isinstance(entry.get("key"), str):
            value = entry.get("value")
            by_name[entry["key"]] = _plain(value) if isinstance(value, dict) else value
    return by_name


def _plain(value: dict[str, Any]) -> Any:
    """Return the plain value of a typed value of OTLP, in which whole numbers are text."""
    if "intValue" in value:
        number = value["intValue"]
        sound = isinstance(number, str) and number.lstrip("-").isdecimal() and len(number) < 30
        return int(number) if sound and number.isascii() else number
    if isinstance(value.get("arrayValue"), dict):
        inner = value["arrayValue"].get("values") or []
        return [_plain(item) if isinstance(item, dict) else item for item in inner]
    if isinstance(value.get("kvlistValue"), dict):
        return plain_attributes(value["kvlistValue"].get("values") or [])
    return next(iter(value.values()), None)
