"""`milepost trace from-stats`: write a synthetic twin of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.again import typed_again
from reports.commands.declared import options
from reports.commands.options import JsonOption, LineOptions
from reports.commands.trace.files import Out, print_written, refuse_suffix, save_trace, written
from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError

if TYPE_CHECKING:
    from simulator.trace.trace import Trace
    from workloads.twin import TwinStats


@options
class FromStatsCommand(LineOptions, JsonOption):
    """Write a synthetic twin of a trace, made from its statistics, and say how close it comes.

    The twin can be shared where the trace cannot; docs/workloads.md says what a twin reveals. From
    statistics alone, the twin cannot be compared with the original.
    """

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, or statistics of one.")]
    out: Out
    stats: Annotated[
        Path | None, typer.Option(metavar="STATS.json", help="Write the statistics here.")
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Of the twin, and of --session-rate.")
    ] = 0
    requests: Annotated[
        int | None, typer.Option(help="Requests; default: as many as the trace has.")
    ] = None

    def run(self) -> None:
        """Write the twin, and print how close it comes."""
        from workloads.twin import generate, write_stats
        from workloads.twin.stats import is_stats

        refuse_suffix(self.out)
        options = self.seeded(self.seed)
        if is_stats(self.file) and (options or self.stats is not None):
            raise UsageError(
                "statistics are read as they are: expected no flag of a trace, nor --stats"
            )
        original, fitted = _read(self.file, options)
        twin = generate(fitted, self.seed, self.requests)
        if self.stats is not None:
            write_stats(fitted, self.stats)
        save_trace(twin, self.out, twin.granularity)
        _tell(self.out, twin, original, as_json=self.json)


def _read(file: Path, options: dict[str, Any]) -> tuple[Trace | None, TwinStats]:
    """Return the trace (None where the file holds statistics), and its statistics."""
    from workloads.opening import open_trace
    from workloads.twin import fit, read_stats
    from workloads.twin.stats import is_stats

    if is_stats(file):
        return None, read_stats(file)
    trace = open_trace(file, **options)
    return trace, fit(trace)


def _tell(out: Path, twin: Trace, original: Trace | None, *, as_json: bool) -> None:
    if original is None or not as_json:
        print_written(twin, out, as_json=as_json, token_hit_rates=None)
    if original is not None:
        from reports.pages.twin import twin_report
        from reports.report.showing import show
        from reports.trace.twin import compare

        command = typed_again("milepost trace from-stats FILE")
        points = compare(original, twin)
        show(twin_report(points, written(twin, out), original.name, command), as_json=as_json)
