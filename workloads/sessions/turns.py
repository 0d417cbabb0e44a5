"""Turns in the format of AIPerf and GenAI-Perf, and their arrival times."""

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
    """A list of texts with a name."""

    contents: list[str] = []


class Turn(Keyed, gc=False):
    """One turn of a session: text or lengths, media, and its time or delay."""

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
        """Return the text of the turn, None if it has none."""
        if self.texts is None:
            return self.text_input if self.text is None else self.text
        contents = (t.contents if isinstance(t, Texts) else [t] for t in self.texts)
        return "\n".join(text for of_field in contents for text in of_field)

    def says_something(self) -> bool:
        """Return whether the turn has a text, or a length in place of one."""
        return self.input_length is not None or self.whole_text() is not None

    def only_says(self) -> bool:
        """Return whether this is a system prompt that asks for no answer."""
        timed = self.timestamp is not None or self.delay is not None
        return self.role == "system" and not timed and self.output_length is None

    def media(self) -> list[Any]:
        """Return its images, sounds and videos as they are in the file."""
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
    """Set the times of turns and return them in the order of time (a stable sort).

    If there are no times at all, turns are returned unchanged. A turn without a time, where others
    have one, is a bad line unless it follows another in its session.
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
