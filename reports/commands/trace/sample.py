"""`milepost trace sample`: write a sample of the sessions of a trace."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.declared import options
from reports.commands.options import JsonOption, ReadingOptions
from reports.commands.trace.files import File, Out, refuse_suffix
from reports.commands.trace.parts import parse_part, refuse_empty, write_part
from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError

if TYPE_CHECKING:
    from workloads.slicing.curve_error import CurveError, Misses


@options
class SampleCommand(ReadingOptions, JsonOption):
    """Write a sample of a trace, whole sessions, and say how far its hit rates are off.

    A hash of its name decides whether a session is in: the sample of 5 % lies within that of 10 %.
    Where a trace has no sessions, prompts that begin alike stay together.
    """

    file: File
    out: Out
    share: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Of the sessions, as in 10%.")
    ] = None
    requests: Annotated[
        int | None, typer.Option(min=1, help="Or: at most so many, in whole sessions.")
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Another sample, and of --session-rate.")
    ] = 0

    def run(self) -> None:
        """Write the sample, and print the error of its hit rates."""
        from workloads.opening import open_named
        from workloads.slicing.curve_error import curve_error
        from workloads.slicing.sampling import sample_requests, sample_share

        refuse_suffix(self.out)
        if (self.share is None) == (self.requests is None):
            raise UsageError("expected one of --share and --requests")
        part = None if self.share is None else parse_part(self.share, "--share")
        options = self.seeded(self.seed)
        trace, names = open_named(self.file, **options)
        refuse_empty(trace, self.file)
        if part is not None:
            sampled = sample_share(trace, part, self.seed, names)
        else:
            assert self.requests is not None
            sampled = sample_requests(trace, self.requests, self.seed, names)
        error = curve_error(trace, sampled.trace, sampled.share)
        taken = replace(sampled.trace, notes=(*sampled.trace.notes, _error_note(error)))
        write_part(
            taken,
            self.out,
            taken.notes[len(trace.notes) :],
            as_json=self.json,
            share=sampled.share,
            units={"taken": sampled.taken, "of": sampled.units},
            share_of_requests=sampled.of_whole[0],
            share_of_prompt_tokens=sampled.of_whole[1],
            lru=asdict(error),
        )


def _error_note(error: CurveError) -> str:
    return (
        "LRU hit rates of the sample, in caches scaled by its share, against those of the whole: "
        f"{_misses(error.corrected)} with SHARDS' correction for the size of the sample; "
        f"{_misses(error.plain)} without"
    )


def _misses(misses: Misses) -> str:
    return (
        f"off by {misses.mean_points:.2f} points in the mean, {misses.most_points:.2f} at most "
        f"(at {misses.most_at_tokens:,} tokens)"
    )
