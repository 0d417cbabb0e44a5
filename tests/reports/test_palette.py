from __future__ import annotations

from itertools import combinations

from policies.placement import PLACERS
from reports.palette import COLOURS, DASHES, FATES, SHAPES, looks
from reports.results.points import Series, subjects
from simulator.records import LOSSES


def test_a_placer_looks_the_same_in_every_study() -> None:
    alone = looks(["branch"])[0]
    assert looks(["none", "last", "branch"])[2] == alone
    assert looks(["optimal:budget=8,window=100"]) == looks(["optimal:budget=64,decay=0.9"])


def test_no_two_registered_placers_look_the_same() -> None:
    styles = looks(sorted(PLACERS))
    assert all(a != b for a, b in combinations(styles, 2))


def test_parameters_of_one_placer_share_a_colour_and_differ_in_dash_and_shape() -> None:
    styles = looks([f"block:size={2**i}" for i in range(6)])
    assert len({style.colour for style in styles}) == 1
    assert len({style.dash for style in styles}) == len({style.shape for style in styles}) == 6


def test_an_unknown_placer_has_a_look_that_follows_from_its_name() -> None:
    look = looks(["mine:Placer:budget=3"])[0]
    assert look == looks(["branch", "mine:Placer:budget=3"])[1]
    assert look.colour in COLOURS
    assert look.dash in DASHES
    assert look.shape in SHAPES
    assert looks(["\ud800", ""])  # names that UTF-8 refuses


def test_every_loss_has_a_colour_of_its_own() -> None:
    assert set(FATES) == {"saved", *LOSSES}
    assert len(set(FATES.values())) == len(FATES)


def test_series_of_one_placer_are_told_apart_by_eviction():
    series = [Series(f"branch {e}", "branch", (e, "always")) for e in ("lru", "value", "lru")]
    assert subjects(series) == ["lru", "value", "lru"]
    assert subjects(series[:1]) == ["branch"]
    assert subjects([]) == []
    mixed = [*series, Series("last lru", "last", ("lru", "always"))]
    assert subjects(mixed) == ["branch", "branch", "branch", "last"]
