from __future__ import annotations

from itertools import combinations

from policies.placement import PLACERS
from reports.palette import COLOURS, DASHES, FATES, SHAPES, looks
from reports.results.points import Series, subjects
from simulator.results.records import LOSSES


def test_a_placer_looks_the_same_in_every_study() -> None:
    alone = looks(["branch"])[0]
    assert looks(["none", "last", "branch"])[2] == alone
    two = looks(["optimal:budget=8,window=100", "optimal:budget=64,decay=0.9"])
    assert {look.colour for look in two} == {looks(["optimal"])[0].colour}


def test_a_look_follows_from_the_name_whatever_else_is_there_and_in_what_order() -> None:
    names = [f"block:size={2**i}" for i in range(5)] + ["branch", "last", "mine:P:a=1", "block"]
    by_name = dict(zip(names, looks(names), strict=True))
    assert dict(zip(names[::-1], looks(names[::-1]), strict=True)) == by_name
    assert len({(look.colour, look.dash) for look in by_name.values()}) == len(names)
    for name in ("branch", "last", "block"):
        assert looks([name]) == [by_name[name]]


def test_series_of_many_policies_of_one_name_are_told_apart_by_shape_at_last() -> None:
    styles = looks([f"block:size={2**i}" for i in range(20)])
    assert len(set(styles)) == 20


def test_no_two_registered_placers_look_the_same() -> None:
    styles = looks(sorted(PLACERS))
    assert all(a != b for a, b in combinations(styles, 2))


def test_parameters_of_one_placer_share_a_colour_and_differ_in_dash() -> None:
    styles = looks([f"block:size={2**i}" for i in range(6)])
    assert len({style.colour for style in styles}) == 1
    assert len({style.dash for style in styles}) == 6


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
