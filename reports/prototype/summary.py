"""The figures of a prototype's run, its answer and its caveats; needs numpy only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from calibration.prototype.errors import noise, service_errors, ttft_errors
from calibration.prototype.served import PrototypeRun
from reports.report import Sentence, Strong
from simulator.base.units import format_count

SAME_BYTES = 0.05  # relative difference of state bytes, tensors to accounts, that is reported


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


def answer(run: PrototypeRun) -> Sentence:
    """Return a sentence on how near the simulated times are to the measured ones."""
    whole = service_errors(run.requests)[0]
    return (
        f"Half of {format_count(len(run.requests))} requests are simulated within ",
        Strong(f"{whole.median_absolute:.1%} of the measured time"),
        f"; their sum is off by {whole.bias:+.1%}.",
    )


def cautions(run: PrototypeRun) -> Iterator[str]:
    """Yield the caveats of a run, except those on the kind of its profile."""
    setting, beyond = run.setting, run.extrapolated_requests
    yield (
        "What is kept is decided once, by the simulator's own cache, so this compares cost, not "
        "policy. KV is copied into place before the clock starts, as paged KV would be there."
    )
    if setting.profile_kind == "toy":
        yield (
            "Errors on a toy model or a CPU say how well the method works, not how fast a server "
            "is."
        )
    if setting.profile_model not in {setting.model, setting.model.lower()}:
        yield (
            f"The profile is of {setting.profile_model}, and {setting.model} was run: expect "
            "errors of any size."
        )
    if setting.scale != "whole":
        yield "One layer group was run, not the whole model."
    if run.state_bytes and abs(run.state_bytes / run.profile_state_bytes - 1) > SAME_BYTES:
        yield (
            "The tensors of a state are not of the size that the cache counts: precision or what "
            "the library keeps differs from the profile's."
        )
    if beyond:
        yield f"{beyond:,} requests lie beyond the measured range of the profile."
    if setting.dtype != "float32":
        yield f"Logits are compared in {setting.dtype}, whose rounding alone makes them differ."
    waited = sum(request.simulated_wait_seconds for request in run.requests)
    if waited > sum(request.priced.service for request in run.requests):
        yield (
            "More than half of the simulated time to first token is waiting: there a small error "
            "of the service grows."
        )
