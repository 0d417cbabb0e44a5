"""The helper that the examples of policies use."""

from __future__ import annotations

import doctest

import pytest

from policies.tryout import alone, evicted, prompts, serve
from simulator.base.errors import UsageError


@pytest.mark.parametrize("module", [alone, prompts])
def test_its_own_examples(module):
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed


def test_prompts_share_what_they_begin_with():
    served = serve(["abcd", "abxy", "b", "abpq"], placer="branch")
    assert served.saved == [0, 0, 0, 2]
    assert served.written == [[4], [2, 4], [1], [4]]
    assert served.states == ["ab", "abcd", "abpq", "abxy", "b"]
    assert served.kv == ["abcd", "abpq", "abxy", "b"]


def test_kv_is_cut_from_its_end_with_the_states_there():
    served = serve(["abcd", "xyz"], placer="block:size=2", capacity_bytes=9, state_bytes=2)
    # 4 + 4 bytes are full; 5 more need 4: "d", its state, and "c".
    assert (served.states, served.kv) == (["ab", "xy"], ["ab", "xyz"])


def test_answers_are_cached_and_times_pass():
    served = serve(["ab", "abcde"], placer="marconi", answers=["cd", ""])
    assert served.saved == [0, 4]
    assert serve(["a", "b"], eviction="ttl:seconds=5", seconds=[0, 6]).kv == ["b"]


def test_objects_have_sizes():
    assert evicted("lru", "A B C", 5, A=2, B=3, C=4) == "AB"


def test_an_unknown_policy_is_named():
    with pytest.raises(UsageError, match="placer 'nowhere'"):
        serve(["a"], placer="nowhere")
