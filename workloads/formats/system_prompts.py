"""A folder of system prompts in Markdown, each combined with first turns of conversations.

Source: the published experiments on prefix caches (Shirokikh and Nikolenko, 2026;
arabel1a/sparse-prefix-caching), which use asgeirtj/system_prompts_leaks and ShareGPT.

- The folder holds the Markdown files, also in subfolders, and the turns in `turns.txt` (one a
  line), `turns.jsonl` (`turns`, `prompt` or `text`) or `turns.csv` (`text`, or ShareGPT's table).
- Files of 5,000 to 50,000 characters are used, others are left out and noted. `README.md` and
  folders named `old`, `raw` or with a leading dot are skipped.
- Each system prompt is combined with `TURNS` different random turns, or all where there are fewer:
  `PROMPT`, two line breaks, `User: TURN`. Requests are in random order. Both draws depend on the
  seed.
- There are no times and no answers. A file is a session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.randomness import stream
from workloads.reading.files import reason
from workloads.reading.reader import read_text
from workloads.rows import Rows
from workloads.text.first_turns import READERS, read_turns
from workloads.text.requests import TextRequest, TextRows

TURNS = 30
CHARACTERS = (5_000, 50_000)
LEFT_OUT = frozenset({"old", "raw"})


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a folder.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    DataError
        For a folder without system prompts or without turns.
    """
    texts = TextRows.of(options)
    encode = texts.tokenizer.encode
    turns = read_turns(path / _turns_name(path), texts.rows)
    texts.rows.isolation.begin()  # isolation keys logged with a turn do not apply to these requests
    prompts = dict(_prompts(path, texts.rows))
    if not turns or not prompts:
        missing = "a first turn" if not turns else "a system prompt of 5,000 to 50,000 characters"
        raise DataError(str(path), f"expected {missing}, found none")
    seed = options.seed or 0
    draw = stream(seed, "first turns")
    asked = [
        (name, *turns[at])
        for name in prompts
        for at in draw.permutation(len(turns))[:TURNS].tolist()
    ]
    for at in stream(seed, "order of requests").permutation(len(asked)).tolist():
        name, line, turn = asked[at]
        tokens = encode(f"{prompts[name]}\n\nUser: {turn}")
        texts.add(TextRequest(line, tokens, session=name))
    rows = texts.finish()
    rows.facts.append(
        f"{min(TURNS, len(turns))} first turns a system prompt and the order of requests are "
        f"drawn, seed {seed}"
    )
    return rows


def _turns_name(path: Path) -> str:
    present = [name for name in READERS if (path / name).is_file()]
    if len(present) != 1:
        names = ", ".join(READERS)
        raise DataError(str(path), f"expected one file of turns ({names}), found {len(present)}")
    return present[0]


def _prompts(path: Path, rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield the path in the folder and the text of each system prompt."""
    least, most = CHARACTERS
    for file in _markdown(path):
        text = read_text(file).decode(errors="replace").strip()
        if least <= len(text) <= most:
            yield file.relative_to(path).as_posix(), text
        else:
            detail = f"files under {least:,} or over {most:,} characters: left out"
            rows.note("other-length", None, detail)


def _markdown(path: Path) -> list[Path]:
    """Return the Markdown files to read, sorted by path; links to folders are not followed."""
    files: list[Path] = []
    for place, folders, names in os.walk(path, onerror=_unreadable):
        folders[:] = [name for name in folders if name.lower() not in LEFT_OUT and name[:1] != "."]
        files += [
            Path(place, name)
            for name in names
            if name.endswith(".md") and name.lower() != "readme.md"
        ]
    return sorted(files)


def _unreadable(error: OSError) -> None:
    raise DataError(str(error.filename), f"cannot be read: {reason(error)}") from None


def matches(head: Head) -> bool:
    """Return whether a folder has a file of turns."""
    return any(name in head.names for name in READERS)


SYSTEM_PROMPTS = TraceFormat(
    name="system-prompts",
    title="a folder of system prompts in Markdown, and a file of first turns",
    read=read,
    matches=matches,
    options=frozenset({"seed", "tokenizer"}),
)
