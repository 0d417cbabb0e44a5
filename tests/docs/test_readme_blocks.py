"""The code blocks of the README run, or are what they say."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.docs.conftest import CheckBlocks


def test_the_blocks_of_the_readme(check_blocks: CheckBlocks) -> None:
    check_blocks(ROOT / "README.md")
