"""What a run of the prototype has found, in text and in JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from calibration.prototype.errors import RegimeError, noise, service_errors, ttft_errors
from calibration.prototype.served import PrototypeRun
from simulator.units import format_bytes, format_seconds


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


def summary_lines(run: PrototypeRun) -> list[str]:
    """Return what a run has found, as lines of text."""
    setting, same = run.setting, run.sameness
    head = f"{'':<14}{'requests':>9}{'simulated':>11}{'measured':>10}{'bias':>9}{'median':>9}"
    lines = [
        f"{setting.model} ({setting.scale}, {setting.dtype}) on {setting.device}, {setting.clock}",
        f"placer {setting.placer}, eviction {setting.eviction}, capacity {setting.capacity}; "
        f"profile {setting.profile} ({setting.profile_kind})",
    ]
    for title, rows in (
        ("prefill, restore and capture", service_errors(run.requests)),
        ("time to first token, waits included", ttft_errors(run.requests)),
    ):
        lines += ["", title, f"{head}{'|error|':>9}{'worst':>9}", *map(_line, rows)]
    lines += [
        "",
        f"passes lie {noise(run.requests):.1%} apart (median over the requests)",
        f"logits of {same.checked} of {same.resumed} resumed requests against whole prefills: "
        f"{same.max_abs:.1e} at most",
        f"one state: {format_bytes(run.state_bytes)} of tensors, "
        f"{format_bytes(run.profile_state_bytes)} in the cache's books",
    ]
    if run.extrapolated_requests:
        lines.append(f"beyond the profile's measured range: {run.extrapolated_requests} requests")
    return lines


def _line(row: RegimeError) -> str:
    times = format_seconds(row.simulated_seconds), format_seconds(row.measured_seconds)
    return (
        f"{row.regime:<14}{row.requests:>9}{times[0]:>11}{times[1]:>10}{row.bias:>+9.1%}"
        f"{row.median:>+9.1%}{row.median_absolute:>9.1%}{row.worst:>+9.1%}"
    )
