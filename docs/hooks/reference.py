"""Pages of the site that are made from the code: the policies, and the help of every command."""

from __future__ import annotations

from collections.abc import Iterator

import click
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from policies.joint import joint_names
from policies.registry import PolicyInfo, describe
from reports.cli import app
from reports.words import all_of
from simulator.base.parameters import REQUIRED

WIDTH = 100  # characters of a line of help
KINDS = {
    "placer": ("Placers", "where states are checkpointed: `--placer`"),
    "eviction": ("Eviction policies", "what leaves the cache when room is needed: `--eviction`"),
    "admission": ("Admission policies", "what is worth storing at all: `--admission`"),
    "estimator": (
        "Estimators",
        "how a placer that plans for a distribution of overlaps learns it; set by its parameters",
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    files.append(File.generated(config, "reference/policies.md", content=_policies()))
    files.append(File.generated(config, "reference/command-line.md", content=_commands()))
    return files


def _policies() -> str:
    parts = [
        "# Policies\n",
        "Written from the code, as `milepost policies` is. A policy is asked for by its name and",
        "its parameters, as in `block:size=4096`; one of your own as `module:Class`",
        "([Write a policy](../guides/policy.md)). Policies marked *looks ahead* know the requests",
        "that will come: they are bounds to compare with, not policies to use.\n",
        f"`--policy NAME` sets all kinds that have a policy of a name: {', '.join(_joint())}.\n",
    ]
    for kind, (title, what) in KINDS.items():
        parts += [f"## {title}\n", f"{what[0].upper()}{what[1:]}.\n"]
        for info in describe(kind):
            parts += _policy(info)
    return "\n".join(parts)


def _joint() -> Iterator[str]:
    for name, kinds in joint_names().items():
        yield f"`{name}` ({all_of(kinds)})"


def _policy(info: PolicyInfo) -> Iterator[str]:
    about = info.documentation
    ahead = " *Looks ahead.*" if info.clairvoyant else ""
    yield f"### `{info.name}` {{ #{info.kind}-{info.name} }}\n"
    yield f"{_plain(about.summary)}{ahead}\n"
    yield from (f"{_plain(paragraph)}\n" for paragraph in about.explanation)
    if info.parameters:
        yield "| parameter | type | default | meaning |\n| --- | --- | --- | --- |"
        for each in info.parameters:
            default = "required" if each.default is REQUIRED else f"`{each.default}`"
            meaning = _plain(about.parameters.get(each.name, "")).replace("|", "\\|")
            yield f"| `{each.name}` | {each.type.__name__} | {default} | {meaning} |"
        yield ""
    if about.source:
        yield f"Source: {_plain(about.source)}\n"


def _plain(text: str) -> str:
    """Return the text of a docstring as Markdown that shows the same."""
    return text.replace("``", "`").replace("<", "&lt;").replace("*", "\\*").replace("::", ":")


def _commands() -> str:
    parts = [
        "# Command line\n",
        "What `milepost COMMAND --help` prints, for every command. Exit codes: 0 fine; 1 a bug;",
        "2 wrong usage or configuration; 3 bad data; 4 some cells failed; 99 a target was missed;",
        "130 interrupted.\n",
    ]
    for name, command in _every(typer.main.get_command(app), "milepost"):
        context = click.Context(
            command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
        )
        parts += [f"## `{name}`\n", f"```text\n{command.get_help(context)}\n```\n"]
    return "\n".join(parts)


def _every(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and those below it, with their full names."""
    yield name, command
    for below, each in getattr(command, "commands", {}).items():
        yield from _every(each, f"{name} {below}")
