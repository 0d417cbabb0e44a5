"""What a run of the prototype has found, in text and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from calibration.prototype.errors import RegimeError, noise, service_errors, ttft_errors
from calibration.prototype.served import PrototypeRun
from reports.console import print_line, print_table
from simulator.base.units import format_bytes, format_seconds

HEAD = ("", "requests", "simulated", "measured", "bias", "median", "|error|", "worst")

SAME_BYTES = 0.05  # a state may differ by so much between tensors and books before it is told

_KINDS = {
    "measured": "was measured",
    "toy": "was measured on a toy model or a CPU: it says how well the method works, not how fast "
    "a server is",
    "composed": "was composed from timings of single operators",
    "analytic": "is a roofline estimate from datasheet figures",
}


def figures(run: PrototypeRun) -> dict[str, Any]:
    """Return the figures of a run as plain values."""
    return {
        "setting": asdict(run.setting),
        "requests": len(run.requests),
        "service": [asdict(row) for row in service_errors(run.requests)],
        "ttft": [asdict(row) for row in ttft_errors(run.requests)],
        "noise": noise(run.requests),
        "sameness": asdict(run.sameness),
        "state_bytes": run.state_bytes,
        "profile_state_bytes": run.profile_state_bytes,
        "extrapolated_requests": run.extrapolated_requests,
    }


def print_prototype(run: PrototypeRun) -> None:
    """Print what a run has found: as `summary_lines`, with tables that fold."""
    for line in _head_lines(run):
        print_line(line)
    for title, rows in _errors(run):
        print()
        print_table(HEAD, list(map(_row, rows)), title=title)
    print()
    for line in _tail_lines(run):
        print_line(line)


def summary_lines(run: PrototypeRun) -> list[str]:
    """Return what a run has found, as lines of text; of use where rich is not installed."""
    lines = _head_lines(run)
    for title, rows in _errors(run):
        lines += ["", title, *map(_line, [HEAD, *map(_row, rows)])]
    return [*lines, "", *_tail_lines(run)]


def _errors(run: PrototypeRun) -> tuple[tuple[str, list[RegimeError]], ...]:
    return (
        ("prefill, restore and capture", service_errors(run.requests)),
        ("time to first token, waits included", ttft_errors(run.requests)),
    )


def _head_lines(run: PrototypeRun) -> list[str]:
    setting = run.setting
    return [
        f"{setting.model} ({setting.scale}, {setting.dtype}) on {setting.device}, {setting.clock}",
        f"placer {setting.placer}, eviction {setting.eviction}, capacity {setting.capacity}; "
        f"profile {setting.profile} ({setting.profile_kind})",
    ]


def _tail_lines(run: PrototypeRun) -> list[str]:
    same = run.sameness
    lines = [
        f"passes {passes_apart(run)}",
        f"logits of {same.checked} of {same.resumed} resumed requests against whole prefills: "
        f"{same.max_abs:.1e} at most",
        f"one state: {format_bytes(run.state_bytes)} of tensors, "
        f"{format_bytes(run.profile_state_bytes)} in the cache's books",
    ]
    return [*lines, "", *(f"note: {caution}" for caution in cautions(run))]


def cautions(run: PrototypeRun) -> list[str]:
    """Return a sentence for everything that a reader should weigh."""
    setting, beyond = run.setting, run.extrapolated_requests
    notes = [
        "What is kept is decided once, by the simulator's own cache, so this compares cost, not "
        "policy. KV is copied into place before the clock starts, as paged KV would be there.",
        f"The profile {setting.profile} {_KINDS.get(setting.profile_kind, 'is of unknown make')}.",
    ]
    if setting.profile_model not in {setting.model, setting.model.lower()}:
        notes.append(
            f"The profile is of {setting.profile_model}, and {setting.model} was run: expect "
            "errors of any size."
        )
    if setting.scale != "whole":
        notes.append("One layer group was run, not the whole model.")
    if run.state_bytes and abs(run.state_bytes / run.profile_state_bytes - 1) > SAME_BYTES:
        notes.append(
            "The tensors of a state are not of the size that the cache counts: precision or what "
            "the library keeps differs from the profile's."
        )
    if beyond:
        notes.append(f"{beyond:,} requests lie beyond the measured range of the profile.")
    if setting.dtype != "float32":
        notes.append(
            f"Logits are compared in {setting.dtype}, whose rounding alone makes them differ."
        )
    return notes + _waiting(run)


def _waiting(run: PrototypeRun) -> list[str]:
    waited = sum(request.simulated_wait_seconds for request in run.requests)
    if waited <= sum(request.priced.service for request in run.requests):
        return []
    return [
        "More than half of the simulated time to first token is waiting: there a small error of "
        "the service grows."
    ]


def passes_apart(run: PrototypeRun) -> str:
    """Return how far passes lie apart, in words."""
    share = noise(run.requests)
    return "lie an unknown way apart: there is one" if share is None else f"lie {share:.1%} apart"


def _row(row: RegimeError) -> tuple[str, ...]:
    """Return the row of a regime, in the order of HEAD."""
    return (
        row.regime,
        str(row.requests),
        format_seconds(row.simulated_seconds),
        format_seconds(row.measured_seconds),
        f"{row.bias:+.1%}",
        f"{row.median:+.1%}",
        f"{row.median_absolute:.1%}",
        f"{row.worst:+.1%}",
    )


def _line(cells: Sequence[str]) -> str:
    name, *figures = cells
    return f"{name:<14}" + "".join(f"{figure:>11}" for figure in figures)
