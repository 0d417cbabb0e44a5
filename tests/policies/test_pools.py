"""An eviction policy for each pool, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.eviction import Lru
from policies.pools import POOLS, by_pool, names_pools
from policies.registry import canonical, create, doubts_of, eviction_of, specs_of
from simulator.base.errors import UsageError
from simulator.cache.layout import pool_names

LONG = "kv=slru:segments=3,protected=0.5,states=value:step=2"


def test_the_pools_are_those_of_a_split_cache() -> None:
    assert pool_names("split:states=1") == POOLS


def test_one_policy_names_no_pool() -> None:
    for spec in ("lru", "slru:segments=3,protected=0.5", "kv", "my.kv:Class", ""):
        assert not names_pools(spec)
        assert by_pool(spec) is None
        assert specs_of("eviction", spec) == [spec]


@pytest.mark.parametrize(
    ("spec", "pools"),
    [
        ("kv=lru,states=value", {"kv": "lru", "states": "value"}),
        (" states = value , kv = lru", {"kv": "lru", "states": "value"}),
        (LONG, {"kv": "slru:segments=3,protected=0.5", "states": "value:step=2"}),
        ("kv=my:Class:size=3,states=my:Other", {"kv": "my:Class:size=3", "states": "my:Other"}),
    ],
)
def test_a_policy_ends_where_the_next_pool_begins(spec: str, pools: dict[str, str]) -> None:
    assert by_pool(spec) == pools
    assert specs_of("eviction", spec) == [pools["kv"], pools["states"]]
    assert specs_of("placer", spec) == [spec]


@pytest.mark.parametrize(
    ("spec", "spelling"),
    [
        ("states=value, kv=lru:", "kv=lru,states=value"),
        (LONG, "kv=slru:segments=3,protected=0.5,states=value:step=2.0"),
        ("kv=value:step=2,states= value:step=2.0", "value:step=2.0"),  # the same for both
    ],
)
def test_one_spelling(spec: str, spelling: str) -> None:
    assert canonical("eviction", spec) == spelling
    assert canonical("eviction", spelling) == spelling


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kv=lru", "for each of the pools kv and states, as in kv=lru,states=value"),
        ("kv=lru,states=lru,kv=fifo", "for each of the pools kv and states"),
        ("kv=kv=lru,states=lru", "expected"),
        ("kv=lru,states=", "eviction '': unknown name ''"),
        ("kv=lru,states=valeu", "unknown name 'valeu'; did you mean 'value'?"),
        ("kv=lru,state=value,states=lru", "unknown name 'lru,state=value'"),
    ],
)
def test_what_is_wrong_is_one_line(spec: str, message: str) -> None:
    for ask in (lambda: canonical("eviction", spec), lambda: eviction_of(spec)):
        with pytest.raises(UsageError) as caught:
            ask()
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_each_pool_has_a_policy_of_its_own() -> None:
    each = eviction_of("kv=lru,states=lru")
    assert isinstance(each, dict)
    made = [each[pool]() for pool in POOLS]
    assert [type(policy) for policy in made] == [Lru, Lru]
    assert made[0] is not made[1]
    one = eviction_of("lru")
    assert callable(one)
    assert type(one()) is Lru


def test_where_one_policy_is_expected_pools_are_refused() -> None:
    with pytest.raises(UsageError, match="expected one policy, found one for each pool"):
        create("eviction", "kv=lru,states=lru")


def test_doubts_are_of_the_policies_of_all_pools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_doubtful.py").write_text(
        "from policies.eviction import Lru\nclass Own(Lru):\n    def on_hits(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = "own_doubtful:Own"
    (doubt,) = doubts_of("eviction", own)
    assert doubts_of("eviction", f"kv=lru,states={own}") == [doubt]
