"""The code blocks of documents: fences that name their language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT

LANGUAGES = ("console", "python", "toml", "text")
OUTPUT = "output"
FENCE = re.compile(r"```(\S*)(?: title=\"([^\"]+)\")?")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The text between two fences.

    `title` is the name of the file that it is, or "output" of what the commands before it print;
    `output` is that text, of the console block.
    """

    document: Path
    line: int
    language: str
    title: str
    text: str
    output: str = ""

    @property
    def place(self) -> str:
        """Where it begins, as in "docs/python.md:22"."""
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    """Return the README and all pages."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code_blocks(document: Path) -> list[CodeBlock]:
    """Return the code blocks of a document, in order."""
    blocks = list(_blocks(document, document.read_text(encoding="utf-8").split("\n")))
    for number, (block, behind) in enumerate(pairwise(blocks)):
        if behind.title == OUTPUT:
            blocks[number] = replace(block, output=behind.text)
    return blocks


def _blocks(document: Path, lines: list[str]) -> Iterator[CodeBlock]:
    first = None
    for number, line in enumerate(lines):
        match = FENCE.fullmatch(line.strip())
        if match is None:
            continue
        if first is None:
            first, language, title = number, match[1], match[2] or ""
        else:
            text = "\n".join(lines[first + 1 : number]) + "\n"
            yield CodeBlock(document, first + 1, language, title, text)
            first = None
    assert first is None, f"{document.name}:{first}: a fence without an end"
