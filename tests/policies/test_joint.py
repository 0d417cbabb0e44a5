from __future__ import annotations

import pytest

from policies.joint import by_kind, joined, joint_names, names_of
from simulator.base.errors import UsageError

UNIFIED = {"placer": "unified", "eviction": "unified", "admission": "unified"}


def test_names_of_several_kinds_begin_with_those_of_most() -> None:
    names = joint_names()
    assert next(iter(names)) == "unified"
    assert names["unified"] == ("placer", "eviction", "admission")
    assert names["marconi"] == ("placer", "eviction")
    assert names["value"] == ("eviction", "admission")
    assert "lru" not in names


@pytest.mark.parametrize(
    ("spec", "policies"),
    [
        ("unified", UNIFIED),
        (" value ", {"eviction": "value", "admission": "value"}),
        (
            "unified:aim=seconds, rate=1",
            {
                "placer": "unified:aim=seconds, rate=1",
                "eviction": "unified:aim=seconds",
                "admission": "unified",
            },
        ),
        ("adaptive+lru", {"placer": "adaptive", "eviction": "lru"}),
        ("last + lru + tinylfu", {"placer": "last", "eviction": "lru", "admission": "tinylfu"}),
        (
            "adaptive:rate=1e+0+kv=lru,states=value",
            {"placer": "adaptive:rate=1e+0", "eviction": "kv=lru,states=value"},
        ),
    ],
)
def test_one_string_names_policies_of_several_kinds(spec: str, policies: dict[str, str]) -> None:
    assert by_kind(spec) == policies


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("unifid", "policy 'unifid': unknown name 'unifid'; did you mean 'unified'?"),
        ("", "unknown name ''; expected a name of several kinds (unified, "),
        ("lru", "it names an eviction policy alone; expected a name of several kinds (unified, "),
        ("adaptive", "it names a placer alone; expected a name of several kinds"),
        ("always", "it names an admission policy alone; expected"),
        ("my:Thing", "or PLACER+EVICTION[+ADMISSION], as in adaptive+lru"),
        ("unified:speed=1", "unknown parameter 'speed'; expected one of: rate, aim"),
        ("unified:rate=x", "rate: expected a finite number, found 'x'"),
        ("unified:fast", "expected key=value, found 'fast'"),
        ("a+b+c+d", "expected PLACER+EVICTION+ADMISSION, found 4 parts"),
    ],
)
def test_what_is_no_joint_policy_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        by_kind(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("policies", "one"),
    [
        (("unified", "unified", "unified"), "unified"),
        (("unified:rate=1.0", "unified", "unified"), "unified:rate=1.0"),
        (
            ("unified:rate=1.0,aim=seconds", "unified:aim=seconds", "unified"),
            "unified:rate=1.0,aim=seconds",
        ),
        (("unified:aim=seconds", "unified", "unified"), None),  # the eviction has another aim
        (("unified", "lru", "unified"), None),
        (("marconi", "marconi", "always"), None),
        (("unified:gone=1", "unified", "unified"), None),  # stored by another version
        (("my:P", "my:E", "my:A"), None),
    ],
)
def test_one_string_stands_for_three_only_where_it_gives_them_back(
    policies: tuple[str, str, str], one: str | None
) -> None:
    assert joined(*policies) == one


def test_policies_are_named_together_where_more_than_one_is_to_be_named() -> None:
    assert names_of(UNIFIED, ["placer", "eviction"]) == ["unified"]
    rated = UNIFIED | {"placer": "unified:rate=1.0"}
    assert names_of(rated, ["eviction"]) == ["unified"]
    assert names_of(rated, ["placer", "eviction"]) == ["unified:rate=1.0"]
    assert names_of({"placer": "last", "eviction": "lru"}, ["placer", "eviction"]) == [
        "last",
        "lru",
    ]
