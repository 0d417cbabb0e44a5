"""`milepost profiles`: cost profiles with kind, source and valid range."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from reports.commands.options import Json
from reports.console import print_json, print_table
from simulator.units import format_bytes

if TYPE_CHECKING:
    from calibration.catalogue import ProfileRow


def profiles(
    name: Annotated[str | None, typer.Argument(help="A name, or a JSON file.")] = None,
    json: Json = False,
) -> None:
    """List the cost profiles: what a prefill costs and what a state weighs."""
    from calibration.catalogue import describe_profile, describe_profiles, open_profile

    named = [] if name is None else [describe_profile(name, open_profile(name))]
    rows = named or describe_profiles()
    if json:
        print_json({"profiles": [asdict(row) for row in rows]})
    elif not named:
        head = ("profile", "kind", "valid to", "state", "KV a token")
        print_table(head, [_line(row) for row in rows])
        print("\n`milepost profiles NAME` tells the source of each.")
    else:
        print_table(("", ""), _details(rows[0]))


def _line(row: ProfileRow) -> tuple[str, ...]:
    valid = f"{row.valid_n_max:,} tokens"
    state, kv = format_bytes(row.state_bytes), format_bytes(row.kv_bytes_per_token)
    return (row.name, row.kind, valid, state, kv)


def _details(row: ProfileRow) -> list[tuple[str, str]]:
    valid = f"prefills to {row.valid_n_max:,} tokens behind contexts to {row.valid_c_max:,} tokens"
    return [
        ("profile", row.name),
        ("kind", row.kind),
        ("source", row.source),
        ("hardware", row.hardware),
        ("valid range", valid),
        ("state", f"{format_bytes(row.state_bytes)} a checkpoint"),
        ("KV", f"{format_bytes(row.kv_bytes_per_token)} a token"),
        ("alignment", f"checkpoints at multiples of {row.alignment:,} tokens"),
    ]
