"""`milepost policies`: what there is, with parameters and source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.options import Json
from reports.console import print_json, print_table
from simulator.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from policies.registry import PolicyInfo

KINDS = ("placer", "eviction", "admission", "estimator")


def policies(
    name: Annotated[str | None, typer.Argument(help="One policy, in detail.")] = None,
    json: Json = False,
) -> None:
    """List placers, eviction and admission policies and overlap estimators."""
    from policies.registry import describe

    found = [info for kind in KINDS for info in describe(kind)]
    if name is not None:
        found = _named(found, name)
    if json:
        print_json({"policies": [_plain(info) for info in found]})
    elif name is None:
        print_table(
            ("kind", "policy", "what it does"),
            [
                (info.kind, info.usage.replace(",", ", "), info.summary + _mark(info))
                for info in found
            ],
        )
    else:
        for info in found:
            print_table(("", ""), _details(info))


def _named(found: list[PolicyInfo], name: str) -> list[PolicyInfo]:
    wanted = name.partition(":")[0]
    named = [info for info in found if info.name == wanted]
    if not named:
        hint = did_you_mean(wanted, [info.name for info in found])
        raise UsageError(f"unknown policy '{printable(wanted)}'{hint}")
    return named


def _details(info: PolicyInfo) -> list[tuple[str, str]]:
    from simulator.parameters import REQUIRED

    rows = [(info.kind, info.usage), ("what it does", info.summary + _mark(info))]
    for parameter in info.parameters:
        must = parameter.default is REQUIRED
        default = "required" if must else f"default {parameter.default}"
        rows.append((f"  {parameter.name}", f"{parameter.type.__name__}, {default}"))
    return [*rows, ("source", info.source or "folklore")]


def _plain(info: PolicyInfo) -> dict[str, Any]:
    from simulator.parameters import REQUIRED

    return {
        "kind": info.kind,
        "name": info.name,
        "usage": info.usage,
        "summary": info.summary,
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.type.__name__,
                "required": parameter.default is REQUIRED,
                "default": None if parameter.default is REQUIRED else parameter.default,
            }
            for parameter in info.parameters
        ],
        "clairvoyant": info.clairvoyant,
        "source": info.source,
    }


def _mark(info: PolicyInfo) -> str:
    return " (clairvoyant)" if info.clairvoyant else ""
