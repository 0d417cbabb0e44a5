"""`milepost trace generate`: write synthetic traffic as a trace file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from reports.commands.declared import options, settings_given
from reports.commands.options import JsonOption
from reports.commands.study_options import GeneratorOptions, settings_from
from reports.commands.trace.files import refuse_suffix, write
from reports.console import print_json, print_table
from reports.study.layers import parse_override
from simulator.base.bounds import MAX_BLOCK_TOKENS, MAX_SEED
from simulator.base.errors import UsageError


@options
class GenerateCommand(GeneratorOptions, JsonOption):
    """Write synthetic traffic as a trace file, or list the generators."""

    out: Annotated[
        Path | None, typer.Option("--out", help="A .jsonl, .jsonl.gz or .parquet file.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed.")] = 0
    drift: Annotated[
        str | None, typer.Option(help="As in shift:distance=0.3; built-in workload: 0 to 1.")
    ] = None
    block: Annotated[
        int, typer.Option(min=1, max=MAX_BLOCK_TOKENS, help="Tokens a block, in JSONL.")
    ] = 64
    show: Annotated[bool, typer.Option("--list", help="List generators, drifts, arrivals.")] = False

    def run(self) -> None:
        """Write the trace, or print the list."""
        if self.show:
            print_names(as_json=self.json)
            return
        if self.out is None:
            raise UsageError("expected --out FILE, or --list to see the generators")
        from reports.study.file import parse_study
        from reports.study.traces import load_trace

        refuse_suffix(self.out)
        given = settings_given(self)
        if self.drift is not None:
            given["--drift"] = "workload.drift", parse_override(f"workload.drift={self.drift}")[1]
        settings = settings_from(None, given)
        with settings.naming():
            trace = load_trace(parse_study(settings), self.seed)
        write(trace, self.out, self.block, as_json=self.json)


def print_names(*, as_json: bool) -> None:
    """Print generators, drifts and arrival processes with their parameters."""
    rows = list(_names())
    if as_json:
        keys = ("kind", "name", "usage", "summary")
        print_json({"names": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        print_table(("kind", "name", "what it is"), [(row[0], *row[2:]) for row in rows])


def _names() -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, usage and summary of each generator, drift and arrival process."""
    from simulator.base.parameters import parameters_of, text_of
    from workloads.arrivals import ARRIVALS
    from workloads.drift import DRIFTS
    from workloads.synthetic import GENERATORS

    tables: dict[str, dict[str, type]] = {
        "generator": {**GENERATORS},
        "drift": {**DRIFTS},
        "arrivals": {**ARRIVALS},
    }
    for kind, classes in tables.items():
        for name, known in classes.items():
            shown = [p for p in parameters_of(known) if p.default not in {None, ""}]
            usage = ", ".join(f"{p.name}={text_of(p.default)}" for p in shown)
            summary = (inspect.getdoc(known) or "").partition("\n")[0]
            yield kind, name, f"{name}:{usage}" if usage else name, summary
