"""Which replica serves a request."""

from __future__ import annotations

from types import SimpleNamespace

from simulator.serving.router import RoundRobin
from tests.simulator.placers import Wanted
from tests.simulator.replays import replay


def test_replicas_come_in_turn():
    router, replicas = RoundRobin(), [SimpleNamespace(number=number) for number in range(3)]
    assert [router.choose(request, replicas) for request in range(7)] == [0, 1, 2, 0, 1, 2, 0]


class LeastBusy:
    """Takes the replica with the fewest unfinished requests, the first of them."""

    def choose(self, request, replicas):
        return min(replicas, key=lambda replica: (replica.unfinished, replica.number)).number


def test_a_router_sees_what_is_unfinished():
    # The first takes nine seconds; the second is alone on its replica and so is the third.
    prompts = [(1,) * 9, (2, 2), (3, 3), (4, 4)]
    result = replay(prompts, [0.0, 1.0, 4.0, 5.0], Wanted, replicas=2, router=LeastBusy)
    assert result.columns["replica"].tolist() == [0, 1, 1, 0]
    assert result.columns["wait_seconds"].tolist() == [0.0, 0.0, 0.0, 4.0]


def test_one_replica_needs_no_choice():
    result = replay([(1,)], [0.0], Wanted, router=lambda: None)
    assert result.columns["replica"].tolist() == [0]
