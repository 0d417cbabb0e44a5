"""What is said of a server's load."""

from __future__ import annotations

from typing import Any

from reports.results.overload import grown_words, load_words, overload_words, range_words

CALM: dict[str, Any] = {
    "offered_load_nothing_saved": 1.8,
    "offered_load": 0.5,
    "offered_load_last_half": 0.4,
    "utilisation": 0.512,
    "wait_last_quarter_seconds": 0.01,
    "queue_grows": False,
}
GROWN = CALM | {
    "offered_load": 1.25,
    "offered_load_last_half": 1.5,
    "utilisation": 1.0,
    "wait_last_quarter_seconds": 41.2,
    "queue_grows": True,
}
NOTHING = dict.fromkeys(CALM) | {"queue_grows": False}


def test_both_loads_and_the_utilisation_are_told() -> None:
    words = "busy 51.2 % of the time up to the last arrival; offered load 0.50, 1.80 if nothing"
    assert load_words(CALM) == f"{words} were saved"
    assert load_words(NOTHING) == "offered load n/a (no time between arrivals)"


def test_only_a_growing_queue_is_a_warning() -> None:
    assert overload_words(CALM) is None
    assert overload_words(NOTHING) is None
    assert overload_words({}) is None
    words = overload_words(GROWN)
    assert words is not None
    assert "offered load 1.25, 1.80 if nothing were saved (1.50 in the last half" in words
    assert "the last quarter waits 41.2 s on average" in words


def test_several_cells_are_told_by_their_range() -> None:
    assert range_words([]) is None
    assert range_words([NOTHING]) is None
    words = range_words([CALM, GROWN, NOTHING])
    assert words == (
        "servers busy 51.2 % to 100.0 % of the time up to the last arrival; offered load 0.50 to "
        "1.25; if nothing were saved 1.80"
    )
    assert grown_words([CALM]) is None
    assert str(grown_words([CALM, GROWN])).startswith("in 1 of 2 cells the server is overloaded")
