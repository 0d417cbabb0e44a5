"""The code blocks of the guides run, one after the other, as a reader types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.results.pools import LOSS_WORDS
from tests.conftest import ROOT
from tests.docs.conftest import CheckBlocks
from tests.docs.fences import documents

GUIDES = [path for path in documents() if path.parent.name == "guides"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_blocks_of_a_guide(guide: Path, check_blocks: CheckBlocks) -> None:
    check_blocks(guide)


def test_the_guide_on_hit_rates_explains_every_reason() -> None:
    text = (ROOT / "docs" / "guides" / "hit-rate.md").read_text(encoding="utf-8")
    assert [words for words in LOSS_WORDS.values() if f"| {words} |" not in text] == []
