"""`milepost trace inspect`."""

from __future__ import annotations

from typing import Any

from reports.commands.options import (
    Block,
    Format,
    Jitter,
    Json,
    OnBadLine,
    RowsAre,
    TimeUnit,
    Tokenizer,
    read_options,
)
from reports.commands.trace.files import File
from reports.console import print_json, print_table
from reports.summary import share

_IN_TOKENS = ("prompt length", "output length", "overlap", "granularity")


def inspect(
    file: File,
    block: Block = None,
    format: Format = None,
    on_bad_line: OnBadLine = None,
    time_unit: TimeUnit = None,
    rows: RowsAre = None,
    tokenizer: Tokenizer = None,
    jitter: Jitter = None,
    json: Json = False,
) -> None:
    """Say what a trace holds, and what an ideal cache would save."""
    from workloads.inspection import inspect as inspect_trace
    from workloads.opening import open_trace

    options = read_options(block, on_bad_line, time_unit, rows, tokenizer, jitter)
    found = inspect_trace(open_trace(file, format=format, **options)).as_json()
    if json:
        print_json(found)
    else:
        print_table(("", ""), list(_lines(found)))


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
