"""The report of `milepost profiles show`: the costs in a profile and how accurate they are.

A profile holds the bytes and times that the simulator uses for one model on one device.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from calibration.catalogue import describe_profile
from reports.caveats import PROFILE_KINDS, lossy
from reports.palette import BLUE
from reports.profile.charts import context_colours, profile_charts, suffix_colours
from reports.profile.summary import summary
from reports.report import Number, Panel, Panels, Report, Section, Strong, Table, Terms
from reports.words import known, sentence
from simulator.base.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from calibration.catalogue import ProfileRow
    from simulator.costs.profile import Profile

PANELS = {  # chart -> title and caption
    "own": (
        "F: the time without context",
        "Up to the knee a prefill costs about the floor, so a few more recomputed tokens are free; "
        "beyond it each costs its share. A grey band, where there is one, is where the fit's "
        "uncertainty puts the curve (95 %).",
    ),
    "context": (
        "What context adds",
        "Every new token attends to every token before it, so the same prefill costs more after a "
        "longer context.",
    ),
    "residuals": (
        "How far the fit is off",
        "Each point is a timed prefill of the fit (of many, 4,000 are drawn): above zero the "
        "profile says too much. The table has the errors on points that it has not seen.",
    ),
}


def profile_report(name: str, profile: Profile, command: str) -> Report:
    """Return the report of a profile that has times; `name` is the name it was opened by."""
    row, figures = describe_profile(name, profile), summary(profile)
    return Report(
        kind="profile",
        title=profile.profile_id,
        sections=(
            Section(
                answer=("This profile ", Strong(PROFILE_KINDS[profile.kind]), "."),
                also=(f"{profile.hardware.name}. Source: {profile.source}.",),
                numbers=_numbers(profile, figures),
                blocks=(
                    Panels(title="What a prefill costs", panels=_panels(profile)),
                    Terms(
                        title="What it says", id="details", items=_details(row, profile, figures)
                    ),
                    _prices(figures),
                    *_errors(figures),
                ),
            ),
        ),
        caveats=tuple(_caveats(profile, figures)),
        command=command,
        data={"profiles": [asdict(row) | figures]},
    )


def _panels(profile: Profile) -> tuple[Panel, ...]:
    swatches = {
        "own": {"F": BLUE},
        "context": suffix_colours(profile),
        "residuals": context_colours(),
    }
    return tuple(
        Panel(key, *PANELS[key], chart, tuple(swatches[key].items()))
        for key, chart in profile_charts(profile).items()
    )


def _numbers(profile: Profile, figures: dict[str, Any]) -> tuple[Number, ...]:
    context = figures["context_tokens"]
    slot = profile.kv_slot_bytes
    own = format_bytes(profile.kv.bytes_per_token)
    return (
        Number(
            "Floor",
            format_seconds(figures["floor_seconds"]),
            f"up to about {figures['knee_tokens']:,.0f} tokens",
        ),
        Number(
            "A token",
            format_seconds(figures["token_seconds"]),
            "pairs cost nothing" if context is None else f"twice that behind {context:,.0f} tokens",
        ),
        Number(
            "A checkpoint",
            format_bytes(profile.state_bytes),
            f"{format_bytes(slot)} of it KV; " * bool(slot)
            + f"copied in {format_seconds(figures['capture_seconds'])}",
        ),
        Number(
            "KV a token",
            format_bytes(profile.kv_bytes_per_token),
            f"{own} before compression" if profile.kv_compression else f"{profile.kv.dtype or ''}",
        ),
    )


def _details(row: ProfileRow, profile: Profile, figures: dict[str, Any]) -> list[tuple[str, str]]:
    slot = profile.kv_slot_bytes
    copies = ", ".join(f"{t} {format_seconds(s)}" for t, s in figures["restore_seconds"].items())
    knee = f"{format_seconds(figures['floor_seconds'])}, up to about {figures['knee_tokens']:,.0f}"
    pair = f"a pair with a token before it {figures['pair_seconds'] * 1e9:.3g} ns"
    if figures["context_tokens"] is not None:
        pair += f", so a token costs twice as much behind {figures['context_tokens']:,.0f}"
    floors = figures["floor_seconds_by_launch"].items()
    rows = {
        "profile": row.name,
        "kind": row.kind,
        "source": row.source,
        "hardware": row.hardware,
        "software": _software(profile),
        "valid range": f"prefills to {row.valid_n_max:,} tokens behind contexts to "
        f"{row.valid_c_max:,} tokens",
        "state": f"{format_bytes(row.state_bytes)} a checkpoint"
        + (f", {format_bytes(slot)} of it KV" if slot else ""),
        "restored from": copies,
        "KV": f"{format_bytes(row.kv_bytes_per_token)} a token",
        "alignment": f"checkpoints at multiples of {row.alignment:,} tokens",
        "floor": f"{knee} tokens",
        "  launched": ", ".join(f"{name} {format_seconds(seconds)}" for name, seconds in floors),
        "beyond": f"a token {format_seconds(figures['token_seconds'])}, {pair}",
    }
    optional = {"software", "  launched"}
    return [(name, text) for name, text in rows.items() if text or name not in optional]


def _software(profile: Profile) -> str:
    """Return the measured software and its precision, as far as the profile states them."""
    stack, model = profile.software, profile.model
    named = [] if stack is None else [("torch", stack.torch), ("transformers", stack.transformers)]
    parts = [f"{name} {version}" for name, version in named if version]
    parts += [stack.kernels] if stack is not None and stack.kernels else []
    parts += [f"weights in {model.dtype}"] if model.dtype else []
    return "; ".join(parts)


def _prices(figures: dict[str, Any]) -> Table:
    rows = [
        (
            f"{n:,} token{'s' if n > 1 else ''}",
            format_seconds(seconds),
            format_seconds(seconds / n),
        )
        for n, seconds in ((int(n), seconds) for n, seconds in figures["prefill_seconds"].items())
    ]
    return Table(
        title="What prefills of some lengths cost",
        id="prices",
        head=("Prefill without context", "Time", "A token"),
        rows=rows,
    )


def _errors(figures: dict[str, Any]) -> list[Table]:
    """Return a table of prediction errors, one row per regime of the held-out measurements.

    No table where no measurement was held out.
    """
    rows = [
        (
            row["regime"],
            f"{row['points']:,}",
            f"{row['mean']:.1%}",
            f"{row['bias']:+.1%}",
            f"{row['worst']:+.1%} at {row['worst_n']:,} behind {row['worst_c']:,}",
            known(row["noise"] or None, "{:.1%}".format),
        )
        for row in figures["held_out"]
    ]
    head = ("Regime", "Points", "Mean absolute error", "Bias", "Worst", "Noise of repeated runs")
    title = "Errors on points that the fit has not seen"
    return [Table(title=title, id="errors", head=head, rows=rows)] if rows else []


def _caveats(profile: Profile, figures: dict[str, Any]) -> list[str]:
    """Return the caveats about the profile's times."""
    sentences = [f"The profile {PROFILE_KINDS[profile.kind]}."]
    if profile.model.scale != "whole":
        sentences.append(f"Timed as {profile.model.scale}, not on the whole model.")
    if profile.kind == "measured":
        sentences += _unproved(profile, figures)
    sentences += lossy({} if profile.lossy is None else {profile.profile_id: profile.lossy})
    if figures["band"] is not None:
        sentences.append(
            f"The fit's uncertainty is {figures['band']:.2%} of a prefill's time on average "
            f"(95 %), stored as {figures['draws']} draws: model.draws = true carries it into a "
            "study."
        )
    else:
        timed = "" if profile.prefill.n else ": there are no timed prefills to take it from"
        sentences.append(f"No uncertainty is stated{timed}.")
    sentences += [
        f"Outlier: {row['n']:,} tokens behind {row['c']:,}, predicted / measured - 1 = "
        f"{row['error']:+.0%}."
        for row in figures["outliers"]
    ]
    sentences += [sentence(warning) for warning in figures["warnings"]]
    sentences.append(
        f"Valid for prefills of up to {profile.valid_n_max:,} tokens behind up to "
        f"{profile.valid_c_max:,}; beyond, times are extrapolated, and reports count such requests."
    )
    return sentences


def _unproved(profile: Profile, figures: dict[str, Any]) -> list[str]:
    """Return a sentence for each fact that a measured profile should state but does not."""
    sentences = []
    if profile.exactness is None or profile.exactness.fp32_max_abs is None:
        sentences.append("No exactness gate is recorded: nothing shows that states can be resumed.")
    if not figures["held_out"]:
        sentences.append("Nothing was held out: no error of the fit is known.")
    return sentences
