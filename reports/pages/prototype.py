"""The report of `milepost prototype`: simulated times compared with measured times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from calibration.prototype.errors import RegimeError, noise, service_errors, ttft_errors
from reports.caveats import PROFILE_KINDS
from reports.prototype.charts import COLOURS, KINDS, drawn_every, prototype_charts
from reports.prototype.summary import answer, cautions, figures
from reports.report import Code, Number, Panel, Panels, Report, Section, Table, Terms
from simulator.base.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun

REGIMES = (
    ("miss", "nothing could be resumed: the whole prompt in one pass"),
    ("cut", "states were captured inside the pass, which was cut there"),
    ("replay", "more tokens were computed again than for the first time"),
    ("short suffix", "resumed, and at most 64 tokens computed: one chunk"),
    ("long suffix", "resumed, and more computed, most of it new"),
)
HEAD = (
    "Regime",
    "Requests",
    "Simulated",
    "Measured",
    "Bias of the sum",
    "Median error",
    "Median |error|",
    "Worst",
)


def prototype_report(run: PrototypeRun, command: str) -> Report:
    """Return the report of a run of the prototype; `command` makes the report again."""
    service, ttft = service_errors(run.requests), ttft_errors(run.requests)
    setting = run.setting
    where = f"{setting.model} ({setting.scale}) on {setting.device}, placer "
    return Report(
        kind="prototype",
        title=f"Simulated against measured: {setting.model}",
        sections=(
            Section(
                answer=answer(run),
                also=((where, Code(setting.placer), "."),),
                numbers=_numbers(run, service[0], ttft[0]),
                blocks=(
                    Panels(title="Simulated against measured", panels=_panels(run, service)),
                    _errors("service", "Restore, prefill and capture", service),
                    _errors("ttft", "Time to first token, waits included", ttft),
                    Terms(title="Regimes", id="regimes", items=REGIMES, on_terminal=False),
                    Terms(title="What was run", id="setting", items=list(_facts(run))),
                ),
            ),
        ),
        caveats=tuple(_caveats(run)),
        command=command,
        data=figures(run),
        page_file="prototype.html",
    )


def _panels(run: PrototypeRun, service: Sequence[RegimeError]) -> tuple[Panel, ...]:
    present, worst = {row.regime for row in service}, service[0]
    regimes = tuple((name, colour) for name, colour in COLOURS.items() if name in present)
    texts = {
        "agreement": (
            "A request is a point",
            "On the dashed line the simulation says what the clock said; in the grey band it is "
            "within 15 %.",
        ),
        "errors": (
            "Which requests it errs on",
            f"To the right it says too much. Ticks are medians. The worst is request "
            f"{worst.worst_request}, by {worst.worst:+.1%}.",
        ),
        "waits": (
            "With the queue",
            "Each kind of time waits behind its own kind of service, so errors of one request "
            "reach those behind it.",
        ),
    }
    return tuple(
        Panel(id, *texts[id], chart, tuple(KINDS.items()) if id == "waits" else regimes)
        for id, chart in prototype_charts(run).items()
    )


def _numbers(run: PrototypeRun, service: RegimeError, ttft: RegimeError) -> tuple[Number, ...]:
    same = run.sameness
    sums = format_seconds(service.simulated_seconds), format_seconds(service.measured_seconds)
    return (
        Number("Median |error|", f"{service.median_absolute:.1%}", f"passes {_apart(run)}"),
        Number(
            "Bias of the sum", f"{service.bias:+.1%}", f"{sums[0]} simulated, {sums[1]} measured"
        ),
        Number(
            "Time to first token",
            f"{ttft.median_absolute:.1%}",
            f"median |error|, waits included; bias {ttft.bias:+.1%}",
        ),
        Number(
            "Logits differ by",
            f"{same.max_abs:.1e}" if same.checked else "n/a",
            f"at most, in {same.checked:,} of {same.resumed:,} resumed requests",
        ),
    )


def _apart(run: PrototypeRun) -> str:
    """Return a text on how much the times of repeated passes differ."""
    share = noise(run.requests)
    return "lie an unknown way apart: there is one" if share is None else f"lie {share:.1%} apart"


def _errors(id: str, title: str, errors: Sequence[RegimeError]) -> Table:
    rows = [
        (
            row.regime,
            format_count(row.requests),
            format_seconds(row.simulated_seconds),
            format_seconds(row.measured_seconds),
            f"{row.bias:+.1%}",
            f"{row.median:+.1%}",
            f"{row.median_absolute:.1%}",
            f"{row.worst:+.1%}",
        )
        for row in errors
    ]
    return Table(title=title, id=id, head=HEAD, rows=rows)


def _facts(run: PrototypeRun) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each fact about the run."""
    setting, same = run.setting, run.sameness
    passes = len(run.requests[0].passes_seconds)
    prompt = sum(request.prompt_tokens for request in run.requests)
    saved = sum(request.saved_tokens for request in run.requests)
    yield "Model", f"{setting.model}, {setting.scale}, {setting.dtype}"
    yield "Machine", f"{setting.device}; {setting.software}"
    yield "A second is", f"{setting.clock}; {passes} passes over the trace, which {_apart(run)}"
    yield "Profile", f"{setting.profile} ({setting.profile_kind}): {setting.profile_source}"
    yield (
        "Trace",
        f"{setting.trace}, {format_count(len(run.requests))} requests; saved "
        f"{format_count(saved)} of {format_count(prompt)} prompt tokens",
    )
    yield "Cache", f"{setting.placer}, {setting.eviction}, {setting.admission}; {setting.capacity}"
    yield (
        "Logits",
        f"of {same.checked:,} of {same.resumed:,} resumed requests differ from those of whole "
        f"prefills by {same.max_abs:.1e} at most",
    )
    yield (
        "One state",
        f"{format_bytes(run.state_bytes)} of tensors, "
        f"{format_bytes(run.profile_state_bytes)} in the cache's books",
    )


def _caveats(run: PrototypeRun) -> Iterator[str]:
    setting, every = run.setting, drawn_every(len(run.requests))
    kind = PROFILE_KINDS.get(setting.profile_kind, "is of unknown make")
    yield f"The profile {setting.profile} {kind}."
    yield from cautions(run)
    if every > 1:
        yield f"Charts draw one of every {every} requests; the figures are of all."
