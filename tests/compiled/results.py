"""Prints which modules run, and the cells of the grid that give other results than those on record.

It needs a process of its own, since a module is imported compiled or not for good.
"""

from __future__ import annotations

from simulator.base.compiled import STATE
from tests.contracts.result_digests import digest, recorded
from tests.contracts.result_grid import cells, shared


def compare() -> None:
    """Print a line on what runs, and one for each cell that is not as recorded."""
    replays = (shared() / "data").is_dir()
    grid = [cell for cell in cells() if replays or not cell.is_replay]
    print(f"{STATE}; {len(grid)} cells")
    for cell in grid:
        if digest(cell) != recorded()[cell.name]:
            print(cell.name)


if __name__ == "__main__":
    compare()
