"""`milepost policies`: the registered policies, with parameters and source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import print_json, print_table
from reports.words import all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.registry import PolicyInfo

KINDS = ("placer", "eviction", "admission", "estimator")


@options
class PoliciesCommand(JsonOption):
    """List placers, eviction and admission policies and overlap estimators."""

    name: Annotated[str | None, typer.Argument(help="One policy, or module:Class, in detail.")] = (
        None
    )

    def run(self) -> None:
        """Print the list, or one policy in detail."""
        from policies.joint import joint_names
        from policies.registry import describe, find

        every = (info for kind in KINDS for info in describe(kind))
        infos = [*every] if self.name is None else find(self.name)
        if self.json:
            print_json({"policies": [_plain(info) for info in infos]})
            return
        ahead = {info.name: info.clairvoyant for info in infos}
        joint = {name: kinds for name, kinds in joint_names().items() if name in ahead}
        together = {name: _together(name, kinds, ahead[name]) for name, kinds in joint.items()}
        if self.name is None:
            print_table(
                ("kind", "policy", "what it does"),
                [
                    *(("policy", name, words) for name, words in together.items()),
                    *((i.kind, i.usage.replace(",", ", "), _summary(i)) for i in infos),
                ],
            )
        else:
            for name, words in together.items():
                print_table(("", ""), [("policy", name), ("what it does", words)])
            for info in infos:
                print_table(("", ""), _details(info))


def _together(name: str, kinds: Sequence[str], clairvoyant: bool) -> str:
    ahead = " (clairvoyant)" if clairvoyant else ""
    return f"The {all_of(kinds)} of this name together: --policy {name}{ahead}"


def _details(info: PolicyInfo) -> list[tuple[str, str]]:
    from simulator.base.parameters import REQUIRED

    documentation = info.documentation
    rows = [(info.kind, info.usage), ("what it does", _summary(info))]
    rows += [("", paragraph) for paragraph in documentation.explanation]
    for parameter in info.parameters:
        must = parameter.default is REQUIRED
        default = "required" if must else f"default {parameter.default}"
        about = documentation.parameters.get(parameter.name, "")
        rows.append((f"  {parameter.name}", f"{parameter.type.__name__}, {default}. {about}"))
    rows.append(("source", documentation.source or "not said"))
    lines = documentation.example.splitlines()
    return [*rows, *zip(["example", *[""] * len(lines)], lines, strict=False)]


def _plain(info: PolicyInfo) -> dict[str, Any]:
    from simulator.base.parameters import REQUIRED

    return {
        "kind": info.kind,
        "name": info.name,
        "usage": info.usage,
        "summary": info.documentation.summary,
        "explanation": " ".join(info.documentation.explanation),
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.type.__name__,
                "required": parameter.default is REQUIRED,
                "default": None if parameter.default is REQUIRED else parameter.default,
                "about": info.documentation.parameters.get(parameter.name, ""),
            }
            for parameter in info.parameters
        ],
        "clairvoyant": info.clairvoyant,
        "source": info.documentation.source,
        "example": info.documentation.example,
    }


def _summary(info: PolicyInfo) -> str:
    text = info.documentation.summary or "not said"
    return text + (" (clairvoyant)" if info.clairvoyant else "")
