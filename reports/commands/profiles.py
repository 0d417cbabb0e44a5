"""`milepost profiles`: cost profiles with kind, source and valid range."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.again import typed_again
from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import print_json, print_table, say
from simulator.base.errors import UsageError
from simulator.base.units import format_bytes

if TYPE_CHECKING:
    from calibration.catalogue import ProfileRow
    from simulator.costs.profile import Profile

SHOW = "show"


@options
class ProfilesCommand(JsonOption):
    """List the cost profiles (what a prefill costs, what a state weighs), or show one."""

    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[show] [NAME]", help="A name or a JSON file; default: list all."),
    ] = None
    out: Annotated[
        Path | None, typer.Option(help="Write the charts of NAME: .html, .png, .svg or .pdf.")
    ] = None

    def run(self) -> None:
        """Print the list, or one profile in detail."""
        name = _named(self.names or [])
        if name is None:
            if self.out is not None:
                raise UsageError("--out: expected the NAME of a profile beside it")
            _list(as_json=self.json)
        else:
            _show(name, self.out, as_json=self.json)


def _named(words: list[str]) -> str | None:
    """Return the profile that is asked for, or None."""
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

    profile = open_profile(name)
    if not profile.tells_times:
        _show_sizes(describe_profile(name, profile), profile, out, as_json=as_json)
        return
    from reports.pages.profile import profile_report
    from reports.report.showing import show
    from reports.report.store import write_to

    report = profile_report(name, profile, typed_again(f"milepost profiles show {name}"))
    if out is not None:
        write_to(report, out)
    show(report, as_json=as_json)
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


def _line(row: ProfileRow) -> tuple[str, ...]:
    valid = "no times" if row.kind == "sizes" else f"{row.valid_n_max:,} tokens"
    state, kv = format_bytes(row.state_bytes), format_bytes(row.kv_bytes_per_token)
    return (row.name, row.kind, valid, state, kv)
