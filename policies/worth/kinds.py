"""Kinds of points to which prompts return.

A kind says where a point lies, how its request began, how often it was used, and the label of its
request: whatever says something about how soon it is used again.
"""

from __future__ import annotations

from typing import Final

# How a request began: unlike any before, as the second, third or a later turn of one, or beside
# one (it diverged inside it).
FRESH, LATER, BESIDE = 0, 3, 4
BEGINNINGS: Final = 5

# Where a point lies: at the end of a prompt, at the end of an answer, anywhere inside either (until
# a prompt first diverges there), before the last token of a prompt, where prompts have diverged.
PROMPT_END: Final = 0
ANSWER_END: Final = BEGINNINGS
WITHIN: Final = 2 * BEGINNINGS
LAST_TOKEN: Final = 3 * BEGINNINGS
BRANCH: Final = LAST_TOKEN + 1
PLACES: Final = BRANCH + 1
RELATED: Final = (
    (0, 5),
    (5, 10),
    (10, 15),
    (15, 16),
    (16, 17),
)  # places that differ in the beginning

STAGES: Final = 4  # waits of a point: the first, second, third, and all others
KINDS: Final = PLACES * STAGES  # without labels
LABELS: Final = 8  # labels from this one on are not told apart
GROUPS: Final = LABELS + 1  # all labels together, and each


def kind_of(place: int, label: int) -> int:
    """Return the kind of a point that was not used yet."""
    return place * STAGES + (KINDS * (label + 1) if 0 <= label < LABELS else 0)


def after_use(kind: int) -> int:
    """Return the kind of a point after one more use."""
    return kind + 1 if kind % STAGES < STAGES - 1 else kind
