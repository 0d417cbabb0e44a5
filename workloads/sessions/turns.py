"""Turns as AIPerf and GenAI-Perf read them, and when they come."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import msgspec

from simulator.base.errors import DataError
from workloads.instants import Ticks, exact
from workloads.prefixes.key_fields import Keyed
from workloads.rows import Rows
from workloads.sessions.closed_loop import answer_ticks, note_closed_loop

Name = Annotated[str, msgspec.Meta(max_length=200)]


class Texts(msgspec.Struct, gc=False):
    """Texts under a name."""

    contents: list[str] = []


class Turn(Keyed, gc=False):
    """What is sent at once."""

    text: str | None = None
    texts: list[str | Texts] | None = None
    text_input: str | None = None
    input_length: int | None = None
    output_length: int | None = None
    role: Name = "user"
    timestamp: Decimal | None = None
    delay: Decimal | None = None
    image: Any = None
    images: Any = None
    audio: Any = None
    audios: Any = None
    video: Any = None
    videos: Any = None

    def whole_text(self) -> str | None:
        """Return the text of the turn, None where it has none."""
        if self.texts is None:
            return self.text_input if self.text is None else self.text
        contents = (t.contents if isinstance(t, Texts) else [t] for t in self.texts)
        return "\n".join(text for of_field in contents for text in of_field)

    def says_something(self) -> bool:
        """Say whether there is a text, or a length in place of one."""
        return self.input_length is not None or self.whole_text() is not None

    def only_says(self) -> bool:
        """Say whether this is a system prompt that asks for no answer."""
        timed = self.timestamp is not None or self.delay is not None
        return self.role == "system" and not timed and self.output_length is None

    def media(self) -> list[Any]:
        """Return what there is besides text, as it stands in the file."""
        named = (self.image, self.images, self.audio, self.audios, self.video, self.videos)
        return [each for each in named if each]


@dataclass(slots=True)
class AskingTurn:
    """A turn that asks for an answer."""

    line: int
    session: str | int | None
    turn: Turn
    ticks: Ticks | None = None


def set_times(path: str, asked: list[AskingTurn], rows: Rows) -> list[AskingTurn]:
    """Give turns their times and return them in the order of these, equal ones as they stand.

    Where nothing tells a time, turns are returned as they are. A turn that has no time where
    others have one, and that follows none in its session, is a bad line.
    """
    stamped = any(turn.turn.timestamp is not None for turn in asked)
    if not stamped and all(turn.turn.delay is None for turn in asked):
        return asked
    last: dict[str | int, AskingTurn] = {}
    timed = []
    for now in asked:
        before = None if now.session is None else last.get(now.session)
        now.ticks = _ticks(now, before, rows, stamped=stamped)
        if now.ticks is None:
            what = "expected a time as on other lines, found none"
            rows.refuse(DataError(path, what, line=now.line, field="timestamp"))
            continue
        timed.append(now)
        if now.session is not None:
            last[now.session] = now
    return sorted(timed, key=lambda turn: turn.ticks or 0)


def _ticks(
    now: AskingTurn, before: AskingTurn | None, rows: Rows, *, stamped: bool
) -> Ticks | None:
    delay = now.turn.delay or 0
    if now.turn.timestamp is not None:
        return now.turn.timestamp
    if before is None or before.ticks is None:
        return None if stamped else delay
    note_closed_loop(rows, now.line)
    answer = answer_ticks(before.turn.output_length or 0, rows.ticks_per_second)
    return exact(before.ticks) + answer + delay
