"""Blocks of documents: their positions, their text, and how they are replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from simulator.base.files import write_text
from studies.figures.parts import ROOT
from studies.figures.rendering import TEMPLATES, parts_of, rendered

BEGIN = re.compile(r"<!-- figures: (\S+) -->")
END = "<!-- end figures -->"
SHOWS = "# What it shows"
MOST = 160  # characters of a line shown in a message


class BrokenBlockError(Exception):
    """Raised for a block without an end or without a template."""


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """Lines `first` to `last` (from 0, `last` excluded) of a document."""

    document: Path
    template: str
    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """Index of the first line after it."""
        return self.first + len(self.lines)

    @property
    def name(self) -> str:
        """Path of the document, for messages."""
        return self.document.relative_to(ROOT).as_posix()

    @property
    def parts(self) -> set[str]:
        """Names of the parts whose figures it shows."""
        return parts_of(self.template)

    def made(self, figures: Mapping[str, Any]) -> list[str]:
        """Return the lines as rendered from the figures."""
        return rendered(self.template, figures)

    def drift(self, figures: Mapping[str, Any]) -> Iterator[str]:
        """Yield "document:line: said ..., found ..." for each line that differs."""
        for number, (written, made) in enumerate(zip_longest(self.lines, self.made(figures))):
            if written != made:
                line = min(self.first + number, self.last) + 1
                yield f"{self.name}:{line}: said {_short(written)}, found {_short(made)}"


def documents() -> list[Path]:
    """Return the paths of README, docs and studies."""
    docs = sorted((ROOT / "docs").glob("*.md"))
    return [ROOT / "README.md", *docs, *sorted((ROOT / "studies").rglob("*.toml"))]


def all_blocks() -> list[DocumentBlock]:
    """Return the blocks of all documents."""
    return [block for document in documents() for block in blocks_of(document)]


def blocks_of(document: Path) -> list[DocumentBlock]:
    """Return the blocks of a document, in order.

    Raises
    ------
    BrokenBlockError
        For a block without an end or a template.
    """
    lines = document.read_text(encoding="utf-8").split("\n")
    blocks = list(
        _header(document, lines) if document.suffix == ".toml" else _marked(document, lines)
    )
    for block in blocks:
        if not (TEMPLATES / block.template).is_file():
            raise BrokenBlockError(f"{block.name}:{block.first}: no template {block.template}")
    return blocks


def replace_blocks(document: Path, figures: Mapping[str, Any]) -> None:
    """Render all blocks of a document and write it, last block first so that indices hold."""
    lines = document.read_text(encoding="utf-8").split("\n")
    for block in reversed(blocks_of(document)):
        lines[block.first : block.last] = block.made(figures)
    write_text(document, "\n".join(lines))


def _marked(document: Path, lines: Sequence[str]) -> Iterator[DocumentBlock]:
    """Yield the blocks between the marks of a Markdown file."""
    for number, line in enumerate(lines):
        match = BEGIN.fullmatch(line.strip())
        if match is None:
            continue
        if END not in lines[number:]:
            raise BrokenBlockError(f"{document.name}:{number + 1}: expected {END}")
        last = lines.index(END, number)
        yield DocumentBlock(
            document, f"{match[1]}.md.j2", number + 1, tuple(lines[number + 1 : last])
        )


def _header(document: Path, lines: Sequence[str]) -> Iterator[DocumentBlock]:
    """Yield the paragraph "What it shows" of a study's header, where it has a template."""
    path = document.relative_to(ROOT / "studies").as_posix()
    template = f"headers/{path}.j2"
    first = next((at for at, line in enumerate(lines) if line.startswith(SHOWS)), None)
    if first is None or not (TEMPLATES / template).is_file():
        return
    last = next(at for at in range(first, len(lines)) if lines[at] in {"#", ""})
    yield DocumentBlock(document, template, first, tuple(lines[first:last]))


def _short(line: str | None) -> str:
    if line is None:
        return "nothing"
    return repr(line if len(line) <= MOST else f"{line[:MOST]}...")
