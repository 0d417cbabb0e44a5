"""What simulations give stays as it is, to the bit."""

from __future__ import annotations

import pytest

from policies.registry import KINDS
from tests.contracts.result_digests import digest, recorded
from tests.contracts.result_grid import Cell, cells


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell.name)
def test_results_are_those_on_record(cell: Cell, request: pytest.FixtureRequest) -> None:
    if cell.is_replay:
        request.getfixturevalue("shared")  # skips where there is no reference data
    before, now = recorded()[cell.name], digest(cell)
    changed = [part for part in before if now[part] != before[part]]
    assert not changed, f"{cell.name}: other than on record: {', '.join(changed)}"


def test_every_registered_policy_is_covered() -> None:
    for kind in ("placer", "eviction", "admission"):
        covered = {getattr(cell, kind).partition(":")[0] for cell in cells()}
        assert {*KINDS[kind].classes} <= covered


def test_the_record_holds_the_grid_and_nothing_else() -> None:
    assert [*recorded()] == [cell.name for cell in cells()]
