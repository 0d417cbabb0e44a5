"""`milepost trace slice`: write a part of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.declared import options
from reports.commands.options import FileOptions, JsonOption
from reports.commands.trace.files import File, Out, refuse_suffix
from reports.commands.trace.parts import parse_range, refuse_empty, write_part
from simulator.base.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

MOST_KNOWN = 10  # at most so many session names in a message


@options
class SliceCommand(FileOptions, JsonOption):
    """Write a part of a trace: by time, by requests, or by whole sessions.

    Times begin at 0 again; prefixes, sessions, labels and known answers are kept.
    """

    file: File
    out: Out
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Arrivals from here on: 10min.")
    ] = None
    to: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Arrivals before this: 1h.")
    ] = None
    requests: Annotated[
        str | None,
        typer.Option(metavar="RANGE", help="As in 1000 (the first), 1000:5000, -1000: (the last)."),
    ] = None
    sessions: Annotated[
        str | None,
        typer.Option(metavar="RANGE", help="The same of whole sessions, as they begin."),
    ] = None
    session: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A session by its name in the file; more than once."),
    ] = None

    def run(self) -> None:
        """Write the part."""
        from workloads.opening import open_named

        refuse_suffix(self.out)
        _refuse_several(self.start or self.to, self.requests, self.sessions, self.session)
        window = _window(self.start, self.to)
        ranges = [
            None if text is None else parse_range(text, flag)
            for text, flag in ((self.requests, "--requests"), (self.sessions, "--sessions"))
        ]
        trace, names = open_named(self.file, **self.reading)
        refuse_empty(trace, self.file)
        part = _cut(trace, names, window, ranges, self.session or ())
        write_part(part, self.out, part.notes[len(trace.notes) :], as_json=self.json)


def _refuse_several(*given: object) -> None:
    if sum(bool(each) for each in given) != 1:
        raise UsageError(
            "expected one way to cut: --from and --to, --requests, --sessions or --session"
        )


def _window(start: str | None, to: str | None) -> tuple[float, float | None] | None:
    from simulator.base.units import parse_seconds

    if start is None and to is None:
        return None
    first = parse_seconds(start or 0, "--from")
    stop = None if to is None else parse_seconds(to, "--to")
    if stop is not None and stop <= first:
        raise UsageError(f"--to: expected a time behind --from, found '{printable(str(to), 40)}'")
    return first, stop


def _cut(
    trace: Trace,
    names: Mapping[int, str],
    window: tuple[float, float | None] | None,
    ranges: Sequence[tuple[int | None, int | None] | None],
    session: Sequence[str],
) -> Trace:
    from workloads.slicing.cutting import by_requests, by_session_order, by_sessions, by_time

    if window is not None:
        return by_time(trace, *window)
    requests, sessions = ranges
    if requests is not None:
        return by_requests(trace, *requests)
    if sessions is not None:
        return by_session_order(trace, *sessions)
    return by_sessions(trace, _numbers(trace, names, session))


def _numbers(trace: Trace, names: Mapping[int, str], wanted: Sequence[str]) -> list[int]:
    """Return the numbers of the sessions wanted, given by name or, without names, by number."""
    from workloads.slicing.cutting import sessions_in_order

    known = {names.get(each, str(each)): each for each in sessions_in_order(trace).tolist()}
    for name in wanted:
        if name not in known:
            shown = [printable(each, 40) for each in known]
            hint = (
                did_you_mean(name, shown)
                if len(known) <= MOST_KNOWN
                else f"; the trace has {len(known):,}, the first is '{shown[0]}'"
            )
            raise UsageError(f"--session: unknown session '{printable(name, 40)}'{hint}")
    return [known[name] for name in wanted]
