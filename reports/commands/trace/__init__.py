"""`milepost trace`: inspect, validate, generate and convert traces."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reports.commands.options import Block, Format, Json, OnBadLine
from reports.console import print_json, print_line, print_table
from reports.summary import share
from simulator.errors import DataError, UsageError, printable

if TYPE_CHECKING:
    from simulator.trace import Trace
    from workloads.validation import Anomaly

app = typer.Typer(help="Everything about traces.", rich_markup_mode=None, no_args_is_help=False)

_IN_TOKENS = ("prompt length", "output length", "overlap", "granularity")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A trace file.")]
Out = Annotated[Path, typer.Option("--out", help="A .jsonl, .jsonl.gz or .parquet file.")]


@app.command()
def inspect(
    file: File,
    block: Block = None,
    format: Format = None,
    on_bad_line: OnBadLine = None,
    json: Json = False,
) -> None:
    """Say what a trace holds, and what an ideal cache would save."""
    from workloads.inspection import inspect as inspect_trace

    found = inspect_trace(_open(file, block, format, on_bad_line)).as_json()
    if json:
        print_json(found)
    else:
        print_table(("", ""), list(_lines(found)))


@app.command(short_help="Look for what is wrong or odd in a file.")
def validate(file: File, block: Block = None, format: Format = None, json: Json = False) -> None:
    """Look for what is wrong or odd in a trace file; exit 3 where it cannot be used as it is."""
    from workloads.validation import validate as validate_trace

    anomalies = validate_trace(file, block=block, format=format)
    errors = [anomaly for anomaly in anomalies if anomaly.error]
    if json:
        print_json({"valid": not errors, "anomalies": [asdict(anomaly) for anomaly in anomalies]})
    elif anomalies:
        print_table(("", "count", "first line", "what"), [_anomaly(found) for found in anomalies])
    else:
        print("nothing is wrong")
    if errors:
        raise typer.Exit(DataError.exit_code)


@app.command()
def generate(
    out: Out,
    requests: Annotated[int | None, typer.Option(help="Requests.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    drift: Annotated[float | None, typer.Option(help="0: stationary, to 1.")] = None,
    rate: Annotated[float | None, typer.Option(help="Requests/s.")] = None,
    block: Annotated[int, typer.Option(min=1, help="Tokens a block, in JSONL.")] = 64,
    json: Json = False,
) -> None:
    """Write the built-in workload as a trace file."""
    from workloads.synthetic import SyntheticSpec
    from workloads.synthetic import generate as generate_trace

    _refuse_suffix(out)
    knobs: dict[str, Any] = {"requests": requests, "drift": drift, "rate_per_second": rate}
    given = {name: value for name, value in knobs.items() if value is not None}
    _write(generate_trace(SyntheticSpec(seed=seed, **given)), out, block, json)


@app.command(short_help="Write a trace as .parquet or .jsonl(.gz).")
def convert(
    file: File,
    out: Out,
    block: Block = None,
    format: Format = None,
    on_bad_line: OnBadLine = None,
    json: Json = False,
) -> None:
    """Write a trace in another form: .parquet opens at once, .jsonl(.gz) is read everywhere."""
    _refuse_suffix(out)
    trace = _open(file, block, format, on_bad_line)
    _write(trace, out, trace.granularity, json)


def _open(file: Path, block: int | None, format: str | None, on_bad_line: str | None) -> Trace:
    from workloads.opening import open_trace

    mode: Literal["fail", "skip"] = "skip" if on_bad_line == "skip" else "fail"
    if on_bad_line not in {None, "fail", "skip"}:
        raise UsageError(f"--on-bad-line: expected fail or skip, found '{printable(on_bad_line)}'")
    return open_trace(file, block=block, format=format, on_bad_line=mode)


def _anomaly(found: Anomaly) -> tuple[str, str, str, str]:
    line = "" if found.first_line is None else str(found.first_line)
    kind = "error" if found.error else "warning"
    return kind, f"{found.count:,}", line, f"{found.what}: {found.detail}"


def _refuse_suffix(out: Path) -> None:
    if not out.name.endswith((".jsonl", ".jsonl.gz", ".parquet")):
        raise UsageError(
            f"--out: expected a name that ends with .jsonl, .jsonl.gz or .parquet, found "
            f"'{printable(out.name)}'"
        )


def _write(trace: Trace, out: Path, block: int, as_json: bool) -> None:
    if out.suffix == ".parquet":
        from workloads.store import save

        save(trace, out)
    else:
        from workloads.export import export_mooncake

        export_mooncake(trace, out, block=block)
    tokens = int(trace.prompt_tokens.sum())
    if as_json:
        print_json({"file": str(out), "requests": len(trace), "prompt_tokens": tokens})
    else:
        print_line(f"{out}: {len(trace):,} requests, {tokens:,} prompt tokens")


def _lines(found: dict[str, Any], above: str = "") -> Any:
    """Yield a line for each figure, the shares with numerator and denominator."""
    for name, value in found.items():
        label = f"{above}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _lines(value, f"{label} ")
        elif name.endswith("_token_hit_rate"):
            saved = found[name.replace("_token_hit_rate", "_saved_tokens")]
            yield label, share(saved, found["prompt_tokens"])
        elif isinstance(value, list | tuple):
            yield label, "; ".join(map(str, value)) or "none"
        else:
            unit = " tokens" if label.startswith(_IN_TOKENS) and value is not None else ""
            yield label, f"{_figure(value)}{unit}"


def _figure(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:,.1f}".removesuffix(".0") if abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
