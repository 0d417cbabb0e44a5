"""Fixed colours, dashes and point shapes: one look for a policy in every chart of every study.

The colours are those of Okabe and Ito (2008), which people with any colour vision tell apart,
less black and yellow, which one of the two backgrounds of a page swallows; grey stands in. Two
placers that share a colour differ in dash and shape, so print needs no colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
BETTER, WORSE = "#6b8e00", "#d81b60"  # of differences; no policy has them

SOLID: tuple[int, ...] = (1, 0)
DASHES: tuple[tuple[int, ...], ...] = (SOLID, (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (1, 3))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class Look:
    """Look of a policy in charts; `dash` alternates stroke and gap, in pixels."""

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
    """Return the look of each of some policies with parameters, such as `block:size=64`."""
    by_policy = assigned({policy: policy for policy in policies})
    return [by_policy[policy] for policy in policies]


def assigned(subjects: Mapping[str, str]) -> dict[str, Look]:
    """Return the look of each series of a study by its full name.

    The colour follows from the name of a policy alone. A policy without parameters, named by
    nothing else, looks the same in every study. For the others dash and shape follow from the full
    name; where two of one study would look the same, the later one in the order of the alphabet
    moves on. So a look depends neither on the order of the series nor on which of them are shown.

    Parameters
    ----------
    subjects
        Full name of *every* series of the study -> the policy, with parameters, that gives it its
        look.
    """
    taken: set[tuple[str, tuple[int, ...]]] = set()
    drawn: set[Look] = set()
    result: dict[str, Look] = {}
    plain = [name for name, policy in subjects.items() if name == policy in _POLICIES]
    for name in [*sorted(plain), *sorted(set(subjects) - set(plain))]:
        first = _POLICIES[name] if name in plain else _base(name, subjects[name])
        options = list(_variants(first))
        free = [look for look in options if (look.colour, look.dash) not in taken]
        look = next(iter(free), next((look for look in options if look not in drawn), first))
        taken.add((look.colour, look.dash))
        drawn.add(look)
        result[name] = look
    return result


def _base(name: str, policy: str) -> Look:
    """Return the colour of a policy, with dash and shape by the full name of the series."""
    short = policy.partition(":")[0]
    known = _POLICIES.get(short)
    number = _number(name)
    if known is not None:
        return known if name == policy == short else _moved(known, number)
    plugged = ":".join(part for part in policy.split(":") if "=" not in part)
    colour = COLOURS[_number(plugged) % len(COLOURS)]
    return Look(colour, DASHES[number // 7 % len(DASHES)], SHAPES[number // 49 % len(SHAPES)])


def _number(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))  # the same in every run, unlike hash()


def _moved(look: Look, number: int) -> Look:
    """Return a look advanced by a number of dashes and shapes."""
    dash = DASHES[(DASHES.index(look.dash) + number) % len(DASHES)]
    return Look(look.colour, dash, SHAPES[(SHAPES.index(look.shape) + number) % len(SHAPES)])


def _variants(look: Look) -> Iterator[Look]:
    """Yield a look, then those of its colour: first with other dashes, then with other shapes."""
    for turn in range(len(SHAPES)):
        shape = SHAPES[(SHAPES.index(look.shape) + turn) % len(SHAPES)]
        for number in range(len(DASHES)):
            yield _moved(Look(look.colour, look.dash, shape), number)
