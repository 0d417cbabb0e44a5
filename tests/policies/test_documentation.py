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
    """


def test_a_docstring_in_its_parts():
    told = documentation_of(Other)
    assert told.summary == "Do something else."
    assert told.explanation == ("For a reason that takes two lines.", "And another.")
    assert told.parameters == {
        "own": "Of its own. In two paragraphs.",
        "far": "Tokens, or more.",
        "late": "Seconds.",
    }
    assert told.source == "a book, page 3."


def test_no_docstring():
    assert documentation_of(type("Silent", (), {"__doc__": None})).summary == ""


@pytest.mark.parametrize("info", EVERY, ids=lambda info: f"{info.kind}-{info.name}")
def test_every_policy_tells_what_it_does_and_where_it_comes_from(info):
    told = info.documentation
    assert told.summary.endswith(".")
    assert told.source
    for parameter in info.parameters:
        assert told.parameters[parameter.name].endswith("."), parameter.name
