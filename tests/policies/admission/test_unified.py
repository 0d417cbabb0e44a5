"""Admission of KV up to the deepest state that is wanted, and of every state."""

from __future__ import annotations

from policies.tryout import serve


def test_kv_behind_the_last_state_does_not_enter() -> None:
    served = serve(["abcdef", "uv"], placer="block:size=4", admission="unified")
    assert (served.states, served.kv) == (["abcd"], ["abcd"])
    assert serve(["abcdef"], placer="block:size=4").kv == ["abcdef"]


def test_what_it_saves_is_what_it_would_save_with_that_kv() -> None:
    prompts = ["abcdef", "abcdefgh", "abcdXY", "abcdefghij"]
    saved = [
        serve(prompts, placer="branch", admission=name).saved for name in ("unified", "always")
    ]
    assert saved[0] == saved[1]


def test_in_a_small_cache_it_leaves_room_for_what_is_used() -> None:
    """KV behind the last state takes the room of a state that is used again."""
    prompts = ["abcd", "uvwxyzk", "abcdef"]
    saved = {
        name: serve(prompts, placer="block:size=4", admission=name, capacity_bytes=10).saved[2]
        for name in ("unified", "always")
    }
    assert saved == {"unified": 4, "always": 0}
