"""First pass over all spans of a file, which collects what the second pass needs to read calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from workloads.formats.parts.otel_calls import (
    Sketch,
    answer_tokens_in,
    counted_in,
    holds_for_calls,
    sketch,
)
from workloads.formats.parts.otel_documents import RawSpan, SpanDocument, spans_in
from workloads.formats.parts.otel_spans import Span, SpanError, plain_attributes
from workloads.formats.parts.otel_tree import SpanNode, SpanTree
from workloads.reading.fields import Problem
from workloads.reading.json_stream import decoded, read_json_stream
from workloads.reading.nanoseconds import NanosecondClock
from workloads.reading.times import parse_time
from workloads.reading.watching import Watch
from workloads.rows import Rows
from workloads.sessions.cached_tokens import CachedMeaning

Decode = Callable[[msgspec.Raw, int], Span]

_decode = msgspec.json.Decoder(Span).decode


def decode_span(raw: msgspec.Raw, line: int) -> Span:
    """Return a decoded span; errors are those of msgspec."""
    return _decode(raw)


class SeenSpan(NamedTuple):
    """A span with its position in the file, its kind and its attributes."""

    file: Path
    line: int
    span: Span
    known: Sketch


class Broken(NamedTuple):
    """A document or span that cannot be read, and why; `line` is None for a whole file."""

    file: Path
    line: int | None
    problem: Problem
    text: bytes = b""


def read_spans(path: Path, rows: Rows | None = None) -> Iterator[SeenSpan | Broken]:
    """Yield the spans of a file or folder, and a `Broken` for each part that cannot be read.

    A span's line is that in the file, or the number of the span where the file is one document.
    If `rows` are given, unused fields are counted in them.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    number = 0
    decode: Decode = decode_span
    around: Watch[SpanDocument] | None = None
    if rows is not None:
        around, decode = Watch(SpanDocument, rows), Watch(Span, rows, "spans[]").decode
    for file, line, text in read_json_stream(path):
        number = number if line else 0  # numbering restarts for a file with one document
        try:
            spans = spans_in(text)
        except SpanError as error:
            yield Broken(file, line, error.problem, text)
            continue
        if around is not None and not (len(spans) == 1 and bytes(spans[0].raw) == text.strip()):
            decoded(lambda raw: around.decode(raw, line or 1), text)  # noqa: B023
        for span in spans:
            number += 1
            seen = _seen(file, line or number, span, decode)
            if rows is not None and isinstance(seen, SeenSpan):
                rows.unused.add(_unused_of(span), seen.line, "spans")
            yield seen


def _unused_of(span: RawSpan) -> list[str]:
    """Return the attributes of a span's resource that are not used."""
    names = plain_attributes(span.resource) if span.resource else ()
    return [f"resource.attributes.{name}" for name in names if not holds_for_calls(name)]


def _seen(file: Path, line: int, text: RawSpan, decode: Decode) -> SeenSpan | Broken:
    span, problem = decoded(lambda raw: decode(raw, line), text.raw)
    if span is None:
        return Broken(file, line, problem or (None, "expected a span"))
    try:
        return SeenSpan(file, line, span, sketch(span, text.scope, text.resource))
    except RecursionError:
        return Broken(file, line, ("attributes", "expected values, found some nested too deeply"))


@dataclass(slots=True)
class SpanSurvey:
    """The result of the first pass over all spans.

    `held` is whether the server's cache held a token of any prompt.
    """

    cached: CachedMeaning
    clock: NanosecondClock = field(default_factory=NanosecondClock)
    tree: SpanTree = field(default_factory=SpanTree)
    held: bool = False
    names: set[str] = field(default_factory=set)

    def look(self, path: Path) -> None:
        """Look at all spans; broken ones are skipped here and reported by the second pass."""
        for seen in read_spans(path):
            if isinstance(seen, SeenSpan):
                span, known = seen.span, seen.known
                node = self._look_at_call(seen) if known.asks else None
                self.tree.see(span.key(), span.parent(), known.kind, node)
        self.tree.settle()

    def _look_at_call(self, seen: SeenSpan) -> SpanNode:
        span, known = seen.span, seen.known
        tokens = start = None
        with suppress(SpanError, ValueError):
            counted = counted_in(known.attributes)
            if counted is not None:
                self.cached.see(known.group, counted, known.usual, seen.line)
                self.held = self.held or counted.read_tokens > 0
                tokens = counted.input_tokens, answer_tokens_in(known.attributes) or 0
            time = span.start()[1]
            start = None if time is None else self.clock.see(time)
        return SpanNode(known.kind, start, _end(span), tokens)

    def left_out(self, seen: SeenSpan) -> tuple[str, str] | None:
        """Return the kind and detail of the anomaly of a span that only looks like a call.

        None means that it is a call. Must be called once for each span, in the order of the file.
        """
        span, known = seen.span, seen.known
        if not known.asks:
            return None if known.why is None else (known.why, _WORDS[known.why])
        key = span.key()
        if self.tree.is_aggregate(key):
            return "aggregate", _WORDS["aggregate"]
        if key is not None:
            name = f"{key} {span.otlp_start or span.start_time or span.jaeger_start}"
            if name in self.names:
                return "duplicate-span", _WORDS["duplicate-span"]
            self.names.add(name)
        return None


def _end(span: Span) -> int | None:
    end = span.end()
    if not isinstance(end, str):
        return end
    try:
        return parse_time(end)[0]
    except ValueError:
        return None


_WORDS = {
    "aggregate": "a span that sums up the calls below it: left out",
    "duplicate-span": "a span that the file has already: left out",
    "no-generation": "a span of embeddings, retrieval or ranking, which writes no answer: left out",
    "no-usage": "a call without messages and token counts: left out",
}
