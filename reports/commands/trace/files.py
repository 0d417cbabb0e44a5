"""Checks, writing and printing that the `milepost trace` commands share for trace files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.console import print_json, print_line
from simulator.base.errors import UsageError, printable

if TYPE_CHECKING:
    from simulator.trace.trace import Trace

File = Annotated[Path, typer.Argument(metavar="FILE", help="A trace file or folder.")]
Out = Annotated[Path, typer.Option("--out", help="A .jsonl, .jsonl.gz or .parquet file.")]


def refuse_suffix(out: Path) -> None:
    """Raise `UsageError` for a file name whose suffix names no trace format."""
    if not out.name.endswith((".jsonl", ".jsonl.gz", ".parquet")):
        raise UsageError(
            f"--out: expected a name that ends with .jsonl, .jsonl.gz or .parquet, found "
            f"'{printable(out.name)}'"
        )


def save_trace(trace: Trace, out: Path, block: int) -> None:
    """Write a trace in the format that the suffix of the file name says."""
    if out.suffix == ".parquet":
        from workloads.store import save

        save(trace, out)
    else:
        from workloads.export import export_mooncake

        export_mooncake(trace, out, block=block)


def write(trace: Trace, out: Path, block: int, *, as_json: bool) -> None:
    """Write a trace in the format that the suffix says, and print what was written."""
    save_trace(trace, out, block)
    print_written(trace, out, as_json=as_json)


def written(trace: Trace, out: Path) -> dict[str, Any]:
    """Return a summary of the trace that was written, as plain values."""
    tokens = int(trace.prompt_tokens.sum())
    return {"file": str(out), "requests": len(trace), "prompt_tokens": tokens}


def print_written(trace: Trace, out: Path, *, as_json: bool, **more: Any) -> None:
    """Print a summary of the trace that was written; as JSON, with the values of `more` added."""
    values = written(trace, out)
    if as_json:
        print_json(values | more)
    else:
        print_line(f"{out}: {len(trace):,} requests, {values['prompt_tokens']:,} prompt tokens")
