from __future__ import annotations

import pytest

from policies.documentation import documentation_of
from policies.registry import KINDS, describe

EVERY = [info for kind in KINDS for info in describe(kind)]


class Base:
    """Do something.

    Parameters
    ----------
    far, near
        Tokens,
        or more.
    late
        Seconds.
    """


class Other(Base):
    """Do something else.

    For a reason that
    takes two lines.

    And another.

    Parameters
    ----------
    own
        Of its own.

        In two paragraphs.
    far, late
        As for every Base.

    Source: a book,
    page 3.

    Examples
    --------
    >>> sorted([2, 1])
    [1, 2]
    """


def test_a_docstring_in_its_parts():
    documentation = documentation_of(Other)
    assert documentation.summary == "Do something else."
    assert documentation.explanation == ("For a reason that takes two lines.", "And another.")
    assert documentation.parameters == {
        "own": "Of its own. In two paragraphs.",
        "far": "Tokens, or more.",
        "late": "Seconds.",
    }
    assert documentation.source == "a book, page 3."
    assert documentation.example == ">>> sorted([2, 1])\n[1, 2]"


def test_no_docstring():
    assert documentation_of(type("Silent", (), {"__doc__": None})).summary == ""


@pytest.mark.parametrize("info", EVERY, ids=lambda info: f"{info.kind}-{info.name}")
def test_every_policy_tells_what_it_does_and_where_it_comes_from(info):
    documentation = info.documentation
    assert documentation.summary.endswith(".")
    assert documentation.source
    for parameter in info.parameters:
        assert documentation.parameters[parameter.name].endswith("."), parameter.name
