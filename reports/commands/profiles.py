"""`milepost profiles`: cost profiles with kind, source and valid range."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.again import typed_again
from reports.commands.options import Json
from reports.console import print_json, print_line, print_table, say
from simulator.base.errors import UsageError
from simulator.base.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from calibration.catalogue import ProfileRow
    from simulator.costs.profile import Profile

SHOW = "show"


def profiles(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[show] [NAME]", help="A name or a JSON file; default: list all."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the charts of NAME: .html, .png, .svg or .pdf.")
    ] = None,
    json: Json = False,
) -> None:
    """List the cost profiles: what a prefill costs and what a state weighs; or show one."""
    name = _named(names or [])
    if name is None:
        if out is not None:
            raise UsageError("--out: expected the NAME of a profile beside it")
        _list(as_json=json)
    else:
        _show(name, out, as_json=json)


def _named(words: list[str]) -> str | None:
    """Return the profile that is asked for, if any."""
    if words[:1] == [SHOW]:
        words = words[1:]
        if not words:
            raise UsageError("profiles show: expected the NAME of a profile")
    if len(words) > 1:
        raise UsageError(f"profiles: expected one NAME, found {len(words)}")
    return words[0] if words else None


def _list(*, as_json: bool) -> None:
    from calibration.catalogue import describe_profiles

    rows = describe_profiles()
    if as_json:
        print_json({"profiles": [asdict(row) for row in rows]})
        return
    head = ("profile", "kind", "valid to", "state", "KV a token")
    print_table(head, [_line(row) for row in rows])
    print("\n`milepost profiles show NAME` tells the source of each, and its figures.")


def _show(name: str, out: Path | None, *, as_json: bool) -> None:
    from calibration.catalogue import describe_profile, open_profile
    from reports.profile.summary import summary

    profile = open_profile(name)
    row = describe_profile(name, profile)
    if not profile.tells_times:
        _show_sizes(row, profile, out, as_json=as_json)
        return
    figures = summary(profile)
    if out is not None:
        from reports.profile.page import write_profile

        write_profile(out, profile, typed_again(f"milepost profiles show {name}"))
    if as_json:
        print_json({"profiles": [asdict(row) | figures]})
    else:
        _print_profile(row, profile, figures)
    if out is not None:
        say(f"charts: {out}")


def _show_sizes(row: ProfileRow, profile: Profile, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        raise UsageError(f"--out: profile '{row.name}' tells sizes only: there is nothing to draw")
    state = profile.state
    one_state_tokens = profile.state_bytes / row.kv_bytes_per_token if row.kv_bytes_per_token else 0
    if as_json:
        parts = {"ssm_bytes": state.ssm_bytes, "conv_bytes": state.conv_bytes}
        print_json({"profiles": [asdict(row) | parts | {"state_as_kv_tokens": one_state_tokens}]})
        return
    layers = ", ".join(f"{n} {kind}" for kind, n in (profile.model.layer_types or {}).items())
    rows = [
        ("profile", row.name),
        ("kind", f"{row.kind}: no times; simulate with --server instant"),
        ("source", row.source),
        ("layers", layers),
        (
            "state",
            f"{format_bytes(row.state_bytes)} a checkpoint ({row.state_bytes:,} bytes: matrices "
            f"{state.ssm_bytes:,}, convolution {state.conv_bytes:,})",
        ),
        (
            "KV",
            f"{format_bytes(row.kv_bytes_per_token)} a token ({row.kv_bytes_per_token:,} bytes)",
        ),
        ("a state weighs", f"as much as the KV of {one_state_tokens:,.0f} tokens"),
        ("alignment", f"checkpoints at multiples of {row.alignment:,} tokens"),
    ]
    print_table(("", ""), rows)


def _print_profile(row: ProfileRow, profile: Profile, figures: dict[str, Any]) -> None:
    from reports.profile.page import error_rows, notes

    print_table(("", ""), _details(row, profile, figures))
    print()
    rows = [_priced(int(n), seconds) for n, seconds in figures["prefill_seconds"].items()]
    print_table(("prefill without context", "time", "a token"), rows)
    if figures["held_out"]:
        print()
        print_table(
            ("held-out points", "points", "mean error", "bias", "worst", "noise"),
            error_rows(figures),
        )
    print()
    for note in notes(profile, figures):
        print_line(f"- {note}")


def _line(row: ProfileRow) -> tuple[str, ...]:
    valid = "no times" if row.kind == "sizes" else f"{row.valid_n_max:,} tokens"
    state, kv = format_bytes(row.state_bytes), format_bytes(row.kv_bytes_per_token)
    return (row.name, row.kind, valid, state, kv)


def _floors(floors: dict[str, float]) -> list[tuple[str, str]]:
    """Return the floors by how a pass is launched, where they were measured."""
    shown = ", ".join(f"{name} {format_seconds(seconds)}" for name, seconds in floors.items())
    return [("  launched", shown)] if shown else []


def _priced(n: int, seconds: float) -> tuple[str, str, str]:
    return (
        f"{n:,} token{'s' if n > 1 else ''}",
        format_seconds(seconds),
        format_seconds(seconds / n),
    )


def _software(profile: Profile) -> list[tuple[str, str]]:
    """Return a row of what ran, in which precision, where the profile says so."""
    stack, model = profile.software, profile.model
    versions = (
        [] if stack is None else [("torch", stack.torch), ("transformers", stack.transformers)]
    )
    parts = [f"{name} {version}" for name, version in versions if version]
    parts += [stack.kernels] if stack is not None and stack.kernels else []
    parts += [f"weights in {model.dtype}"] if model.dtype else []
    return [("software", "; ".join(parts))] if parts else []


def _details(row: ProfileRow, profile: Profile, figures: dict[str, Any]) -> list[tuple[str, str]]:
    valid = f"prefills to {row.valid_n_max:,} tokens behind contexts to {row.valid_c_max:,} tokens"
    slot = profile.kv_slot_bytes
    copies = ", ".join(f"{t} {format_seconds(s)}" for t, s in figures["restore_seconds"].items())
    knee = f"{format_seconds(figures['floor_seconds'])}, up to about {figures['knee_tokens']:,.0f}"
    pair = f"a pair with a token before it {figures['pair_seconds'] * 1e9:.3g} ns"
    if figures["context_tokens"] is not None:
        pair += f", so a token costs twice as much behind {figures['context_tokens']:,.0f}"
    return [
        ("profile", row.name),
        ("kind", row.kind),
        ("source", row.source),
        ("hardware", row.hardware),
        *_software(profile),
        ("valid range", valid),
        (
            "state",
            f"{format_bytes(row.state_bytes)} a checkpoint"
            + (f", {format_bytes(slot)} of it KV" if slot else ""),
        ),
        ("restored from", copies),
        ("KV", f"{format_bytes(row.kv_bytes_per_token)} a token"),
        ("alignment", f"checkpoints at multiples of {row.alignment:,} tokens"),
        ("floor", f"{knee} tokens"),
        *_floors(figures["floor_seconds_by_launch"]),
        ("beyond", f"a token {format_seconds(figures['token_seconds'])}, {pair}"),
    ]
