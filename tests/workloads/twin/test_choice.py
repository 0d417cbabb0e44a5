from __future__ import annotations

from simulator.trace.prefix_tree import ROOT
from workloads.twin.choice import PlaceChoice
from workloads.twin.growth import GrowingPrompts
from workloads.twin.meetings import END
from workloads.twin.places import Places, Wanted


def wants(depth: int) -> Wanted:
    return Wanted(END, distance=0, depth=depth, own=depth, fresh=depth, beyond=0)


def test_a_row_that_goes_on_with_the_last_prompt_comes_first():
    growth = GrowingPrompts(9, 1)
    places = Places(growth, 100.0)
    choice = PlaceChoice(
        [None, None, *map(wants, (900, 90, 4000, 50, 8000, 1000))], places, growth, 100
    )
    for tokens in (100, 1000):
        growth.add(ROOT, tokens, 0, -1)
        places.note(ROOT)
    row, place = choice.next()
    assert (row, place.request, place.position) == (7, 1, 1000)
    assert place.cost == 0


def test_each_row_comes_once_however_badly_it_fits():
    growth = GrowingPrompts(200, 1)
    places = Places(growth, 100.0)
    choice = PlaceChoice([wants(1 << (at % 20)) for at in range(150)], places, growth, 100)
    growth.add(ROOT, 1000, 0, -1)
    places.note(ROOT)
    assert sorted(choice.next()[0] for _ in range(150)) == list(range(150))
