"""The page of `milepost prototype`: simulated against measured, in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibration.prototype.errors import RegimeError, service_errors, ttft_errors
from reports.page.answer import Number
from reports.page.document import render
from reports.page.panel import Panel, described
from reports.prototype.charts import COLOURS, KINDS, drawn_every, prototype_charts
from reports.prototype.summary import cautions, passes_apart
from reports.version import version
from simulator.base.files import write_text
from simulator.base.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun

HEADINGS = (
    "Requests",
    "Simulated",
    "Measured",
    "Bias of the sum",
    "Median error",
    "Median |error|",
    "Worst",
)

COMMAND = "milepost prototype --out DIR"


def write_prototype_page(path: Path, run: PrototypeRun, command: str = COMMAND) -> None:
    """Write the page of a run; whole, or not at all.

    Raises
    ------
    UsageError
        When the file cannot be written.
    """
    write_text(path, render_prototype_page(run, command))


def render_prototype_page(run: PrototypeRun, command: str = COMMAND) -> str:
    """Return the page of a run as HTML; the same input gives the same bytes."""
    service, ttft = service_errors(run.requests), ttft_errors(run.requests)
    panels = _panels(service)
    charts = prototype_charts(run)
    return render(
        "prototype.html",
        described({panel.id: charts[panel.id] for panel in panels}, panels),
        brand="Milepost prototype",
        title=f"Simulated against measured: {run.setting.model}",
        version=version(),
        command=command,
        setting=run.setting,
        median=_percent(service[0].median_absolute),
        bias=_signed(service[0].bias),
        requests=format_count(len(run.requests)),
        numbers=_numbers(run, service[0], ttft[0]),
        panels=panels,
        headings=HEADINGS,
        tables=[
            ("service", "Restore, prefill and capture", list(map(_row, service))),
            ("ttft", "Time to first token, waits included", list(map(_row, ttft))),
        ],
        facts=_facts(run),
        notes=_notes(run),
    )


def _panels(service: list[RegimeError]) -> tuple[Panel, ...]:
    present = {row.regime for row in service}
    regimes = tuple((name, colour) for name, colour in COLOURS.items() if name in present)
    worst = service[0]
    return (
        Panel(
            "agreement",
            "A request is a point",
            "On the dashed line the simulation says what the clock said; in the grey band it is "
            "within 15 %.",
            regimes,
        ),
        Panel(
            "errors",
            "Which requests it errs on",
            f"To the right it says too much. Ticks are medians. The worst is request "
            f"{worst.worst_request}, by {_signed(worst.worst)}.",
            regimes,
        ),
        Panel(
            "waits",
            "With the queue",
            "Each kind of time waits behind its own kind of service, so errors of one request "
            "reach those behind it.",
            tuple(KINDS.items()),
        ),
    )


def _numbers(run: PrototypeRun, service: RegimeError, ttft: RegimeError) -> list[Number]:
    """Return the four numbers."""
    same = run.sameness
    times = format_seconds(service.simulated_seconds), format_seconds(service.measured_seconds)
    return [
        Number(
            "Median |error|",
            _percent(service.median_absolute),
            f"passes {passes_apart(run)}",
        ),
        Number(
            "Bias of the sum", _signed(service.bias), f"{times[0]} simulated, {times[1]} measured"
        ),
        Number(
            "Time to first token",
            _percent(ttft.median_absolute),
            f"median |error|, waits included; bias {_signed(ttft.bias)}",
        ),
        Number(
            "Logits differ by",
            f"{same.max_abs:.1e}" if same.checked else "n/a",
            f"at most, in {same.checked:,} of {same.resumed:,} resumed requests",
        ),
    ]


def _row(row: RegimeError) -> tuple[str, ...]:
    return (
        row.regime,
        format_count(row.requests),
        format_seconds(row.simulated_seconds),
        format_seconds(row.measured_seconds),
        _signed(row.bias),
        _signed(row.median),
        _percent(row.median_absolute),
        _signed(row.worst),
    )


def _facts(run: PrototypeRun) -> list[tuple[str, str]]:
    """Return what was run, by name."""
    setting = run.setting
    passes = len(run.requests[0].passes_seconds)
    prompt = sum(request.prompt_tokens for request in run.requests)
    saved = sum(request.saved_tokens for request in run.requests)
    return [
        ("Model", f"{setting.model}, {setting.scale}, {setting.dtype}"),
        ("Machine", f"{setting.device}; {setting.software}"),
        ("A second is", f"{setting.clock}; {passes} passes over the trace"),
        ("Profile", f"{setting.profile} ({setting.profile_kind}): {setting.profile_source}"),
        (
            "Trace",
            f"{setting.trace}, {format_count(len(run.requests))} requests; saved "
            f"{format_count(saved)} of {format_count(prompt)} prompt tokens",
        ),
        (
            "Cache",
            f"{setting.placer}, {setting.eviction}, {setting.admission}; {setting.capacity}",
        ),
        (
            "One state",
            f"{format_bytes(run.state_bytes)} of tensors, "
            f"{format_bytes(run.profile_state_bytes)} in the cache's books",
        ),
    ]


def _notes(run: PrototypeRun) -> list[str]:
    every = drawn_every(len(run.requests))
    drawn = f"Charts draw one of every {every} requests; the figures are of all."
    return [*cautions(run), *([drawn] if every > 1 else [])]


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _signed(share: float) -> str:
    return f"{share:+.1%}"
