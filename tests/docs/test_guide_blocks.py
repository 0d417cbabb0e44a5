"""The code blocks of the guides run, one after the other, as a reader types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.conftest import CheckBlocks
from tests.docs.fences import documents

GUIDES = [path for path in documents() if path.parent.name == "guides"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_blocks_of_a_guide(guide: Path, check_blocks: CheckBlocks) -> None:
    check_blocks(guide)
