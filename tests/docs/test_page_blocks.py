"""The code blocks of all other pages run, or are what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.conftest import CheckBlocks
from tests.docs.fences import documents

PAGES = [path for path in documents() if path.parent == ROOT / "docs"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_blocks_of_a_page(page: Path, check_blocks: CheckBlocks) -> None:
    check_blocks(page)
