"""Every policy that can be named has an example of its own, which is true."""

from __future__ import annotations

import doctest

import pytest

from policies.documentation import documentation_of
from policies.objects.libcachesim import RULES
from policies.registry import KINDS

REGISTERED = [(name, plugin) for kind in KINDS.values() for name, plugin in kind.classes.items()]
BY_RULES = [(f"{name}:rules=libcachesim", plugin) for name, plugin in RULES.items()]
EVERY = [
    pytest.param(name, plugin, id=plugin.__name__) for name, plugin in [*REGISTERED, *BY_RULES]
]


@pytest.mark.parametrize(("name", "plugin"), EVERY)
def test_the_example_of_a_policy_is_true(name: str, plugin: type) -> None:
    example = documentation_of(plugin).example
    assert name in example or plugin.__name__ in example, "no example of this policy"
    test = doctest.DocTestParser().get_doctest(example, {}, plugin.__name__, None, None)
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert results.attempted > 1  # an import and more
    assert not results.failed, "".join(report)


def test_no_two_policies_have_one_example() -> None:
    examples = [documentation_of(plugin).example for _, plugin in [*REGISTERED, *BY_RULES]]
    assert len({*examples}) == len(examples)
