"""Generators of synthetic traffic by name, each with documented parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simulator.base.errors import UsageError, printable
from simulator.base.parameters import create_named, name_of
from workloads.synthetic.agents import Agents
from workloads.synthetic.builtin import BuiltIn, SyntheticSpec, generate
from workloads.synthetic.chats import Chats
from workloads.synthetic.documents import Documents
from workloads.synthetic.generator import Generator, PrefixGenerator, SessionGenerator
from workloads.synthetic.mixture import Mixture
from workloads.synthetic.system_prompts import SystemPrompts
from workloads.synthetic.thoughts import Thoughts

GENERATORS: dict[str, type[Generator]] = {
    "builtin": BuiltIn,
    "documents": Documents,
    "system_prompts": SystemPrompts,
    "chats": Chats,
    "agents": Agents,
    "thoughts": Thoughts,
}

__all__ = ["GENERATORS", "Agents", "BuiltIn", "Chats", "Documents", "Generator", "Mixture"]
__all__ += ["PrefixGenerator", "SessionGenerator", "SyntheticSpec", "SystemPrompts", "Thoughts"]
__all__ += ["generate", "generator_name", "mixture_text", "read_generator"]

_SHARED = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s+(\S.*)")


def read_generator(text: str) -> Generator:
    """Return the generator that a string describes.

    A generator is written like "chats:turns_mean=3", a mixture as shares and generators joined by
    plus signs: "0.7 documents:count=50 + 0.3 agents".

    Raises
    ------
    UsageError
        For a name, parameter, value or share that is unknown, ill-typed or out of range.
    """
    if " + " not in text and not _SHARED.fullmatch(text):
        return create_named("generator", GENERATORS, text)
    try:
        return Mixture(tuple(_member(part.strip()) for part in text.split(" + ")))
    except UsageError as error:
        raise UsageError(f"generator '{printable(text)}': {error}") from None


def mixture_text(shares: Mapping[str, object]) -> str:
    """Return the string that describes a mixture, from a table of generators and shares."""
    return " + ".join(f"{share} {name}" for name, share in shares.items())


def generator_name(generator: Generator) -> str:
    """Return the string that describes a generator, without parameters at their defaults."""
    if isinstance(generator, Mixture):
        return " + ".join(f"{share} {generator_name(g)}" for share, g in generator.members)
    return name_of(GENERATORS, generator)


def _member(text: str) -> tuple[float, SessionGenerator]:
    match = _SHARED.fullmatch(text)
    if match is None:
        shown = printable(text)
        raise UsageError(f"expected a share and a name as in '0.3 agents', found '{shown}'")
    member = create_named("generator", GENERATORS, match[2])
    if not isinstance(member, SessionGenerator):
        raise UsageError(f"'{printable(match[2])}' is a mixture itself, and no part of another")
    return float(match[1]), member
