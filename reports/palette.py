"""Fixed colours, dashes and point shapes: one look for a policy in every chart of every study.

The colours are those of Okabe and Ito (2008), which people with any colour vision tell apart,
less black and yellow, which one of the two backgrounds of a page swallows; grey stands in. Two
placers that share a colour differ in dash and shape, so print needs no colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

GREY = "#868b92"
ORANGE = "#e69f00"
SKY = "#56b4e9"
GREEN = "#009e73"
BLUE = "#0072b2"
VERMILLION = "#d55e00"
PURPLE = "#cc79a7"
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)

SOLID: tuple[int, ...] = (1, 0)
DASHES: tuple[tuple[int, ...], ...] = (SOLID, (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (1, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class Look:
    """How a policy is drawn; `dash` alternates stroke and gap, in pixels."""

    colour: str
    dash: tuple[int, ...]
    shape: str


_POLICIES = {
    "none": Look(GREY, DASHES[2], SHAPES[0]),
    "dense": Look(GREY, DASHES[1], SHAPES[3]),
    "random": Look(GREY, DASHES[5], SHAPES[4]),
    "branch": Look(BLUE, SOLID, SHAPES[0]),
    "optimal": Look(VERMILLION, SOLID, SHAPES[3]),
    "greedy": Look(VERMILLION, DASHES[1], SHAPES[2]),
    "balanced": Look(SKY, SOLID, SHAPES[1]),
    "sqrt": Look(SKY, DASHES[1], SHAPES[5]),
    "block": Look(ORANGE, SOLID, SHAPES[1]),
    "dyadic": Look(PURPLE, DASHES[3], SHAPES[2]),
    "last": Look(GREEN, DASHES[4], SHAPES[5]),
    "offsets": Look(GREEN, DASHES[2], SHAPES[0]),
    "from_end": Look(GREEN, SOLID, SHAPES[2]),
    "interval": Look(ORANGE, DASHES[1], SHAPES[4]),
    "robust": Look(VERMILLION, DASHES[3], SHAPES[1]),
    "thinned": Look(VERMILLION, DASHES[2], SHAPES[4]),
    "published": Look(PURPLE, SOLID, SHAPES[0]),
    "adaptive": Look(BLUE, DASHES[1], SHAPES[3]),
    "clairvoyant": Look(GREY, SOLID, SHAPES[1]),
    # eviction, where that is what differs
    "lru": Look(BLUE, SOLID, SHAPES[0]),
    "fifo": Look(GREY, DASHES[2], SHAPES[0]),
    "value": Look(VERMILLION, SOLID, SHAPES[3]),
    "gdsf": Look(ORANGE, DASHES[1], SHAPES[4]),
    "pgdsf": Look(ORANGE, SOLID, SHAPES[1]),
    "arc": Look(GREEN, SOLID, SHAPES[2]),
    "s3fifo": Look(PURPLE, SOLID, SHAPES[5]),
    "sieve": Look(PURPLE, DASHES[1], SHAPES[2]),
    "marconi": Look(SKY, DASHES[2], SHAPES[3]),
    "belady": Look(GREY, DASHES[1], SHAPES[3]),
}

# The look of every fate of a prompt token: what cannot be saved is pale, what a policy lost is not.
FATES = {
    "saved": GREEN,
    "never_seen": "#b4b9bf",
    "last_token": "#8f959c",
    "in_flight": SKY,
    "not_admitted": PURPLE,
    "kv_evicted": ORANGE,
    "not_checkpointed": BLUE,
    "alignment": "#7fb2d9",
    "state_evicted": VERMILLION,
    "not_served": "#6b5b95",
}


def looks(policies: Sequence[str]) -> list[Look]:
    """Return the look of each series, given its policy with parameters, such as `block:size=64`.

    The colour follows from the policy's name alone. Where a name comes again with other
    parameters, the dash and the shape move on.
    """
    seen: dict[str, int] = {}
    result = []
    for policy in policies:
        name = policy.partition(":")[0] if policy.partition(":")[0] in _POLICIES else policy
        result.append(_variant(_base(name), seen.get(name, 0)))
        seen[name] = seen.get(name, 0) + 1
    return result


def _base(name: str) -> Look:
    known = _POLICIES.get(name)
    if known:
        return known
    number = crc32(name.encode("utf-8", "surrogatepass"))  # the same in every run, unlike hash()
    return Look(
        COLOURS[number % len(COLOURS)],
        DASHES[number // 7 % len(DASHES)],
        SHAPES[number // 49 % len(SHAPES)],
    )


def _variant(look: Look, number: int) -> Look:
    if not number:
        return look
    dash = DASHES[(DASHES.index(look.dash) + number) % len(DASHES)]
    return Look(look.colour, dash, SHAPES[(SHAPES.index(look.shape) + number) % len(SHAPES)])
