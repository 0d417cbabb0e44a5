from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.trace.prefix_tree import ROOT
from workloads.twin.growth import GrowingPrompts
from workloads.twin.shelf import NEIGHBOURS, Shelf


def grown(*parents: int) -> GrowingPrompts:
    """Return prompts of 10 tokens each behind the end of an earlier one, or of none (-1)."""
    growth = GrowingPrompts(len(parents), 1)
    for request, parent in enumerate(parents):
        node = ROOT if parent < 0 else growth.leaf[parent]
        growth.add(node, 10, 0, request)
    return growth


def test_an_end_leaves_when_it_is_passed_and_a_node_moves_up():
    growth = grown(-1, -1, -1)
    shelf = Shelf(growth)
    shelf.add(0)
    shelf.add(1)
    node = growth.leaf[0]
    shelf.add(0, node)
    assert shelf.near(0) == [(0, ROOT), (0, node), (1, ROOT)]
    growth.add(node, 5, 0, 3)  # request 3 passes the end of request 0
    assert shelf.near(0) == [(1, ROOT), (3, node)]


@given(st.lists(st.integers(-1, 20), min_size=1, max_size=40), st.integers(0, 40))
def test_what_a_shelf_gives_is_up_to_date_in_order_and_near(parents, request_number):
    parents = [min(parent, request - 1) for request, parent in enumerate(parents)]
    growth = GrowingPrompts(len(parents), 1)
    shelf = Shelf(growth)
    for request, parent in enumerate(parents):
        growth.add(ROOT if parent < 0 else growth.leaf[parent], 10, 0, request)
        shelf.add(request)
        shelf.add(request, growth.leaf[request])
        near = shelf.near(request_number)
        assert near == sorted(near)
        assert len(near) <= 2 * NEIGHBOURS
        for owner, node in near:
            if node == ROOT:
                assert growth.exposed[owner] < growth.reach[owner]
            else:
                assert growth.owner[node] == owner
