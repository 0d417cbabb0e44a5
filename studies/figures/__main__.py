"""Command line of `python -m studies.figures`: reproduce figures and check the documents."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import studies.figures as package
from studies.figures.blocks import DocumentBlock, all_blocks, replace_blocks
from studies.figures.parts import ROOT, CommandFailedError, Part, Workplace
from studies.figures.registry import PARTS, chosen
from studies.figures.stored import drift, read, rounded, write


def main(words: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 where something differs."""
    asked = _parser().parse_args(words)
    if asked.list:
        _list()
        return 0
    try:
        parts = chosen(asked.names)
    except KeyError as error:
        print(f"expected a part or a group of `--list`, found {error.args[0]}", file=sys.stderr)
        return 2
    shared = _shared()
    with tempfile.TemporaryDirectory(prefix="milepost-figures-") as temporary:
        place = Workplace(Path(asked.work or temporary).resolve(), shared, asked.jobs)
        fresh, failed = _made(parts, place)
    return _report(fresh, write_them=asked.write) or int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies.figures",
        description=package.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="parts or groups; default: all")
    parser.add_argument("--list", action="store_true", help="list the parts and run nothing")
    parser.add_argument("--write", action="store_true", help="write fresh figures into the files")
    parser.add_argument("--jobs", type=int, default=1, help="processes of a study; default: 1")
    parser.add_argument("--work", help="folder to keep, so that interrupted studies are resumed")
    return parser


def _shared() -> Path | None:
    folder = Path(os.environ.get("MILEPOST_SHARED", ROOT.parent / "shared"))
    return folder.resolve() if (folder / "data").is_dir() else None


def _made(parts: Sequence[Part], place: Workplace) -> tuple[dict[str, Any], bool]:
    """Return fresh figures by part, and whether a command failed."""
    fresh: dict[str, Any] = {}
    failed = False
    for part in parts:
        if missing := part.missing(place.shared):
            print(f"{part.name}: skipped, no {', '.join(missing)} (set MILEPOST_SHARED)")
            continue
        print(f"{part.name}: about {part.minutes:g} min", file=sys.stderr)
        try:
            fresh[part.name] = rounded(part.make(place))
        except CommandFailedError as error:
            print(f"{part.name}: {error}")
            failed = True
    return fresh, failed


def _report(fresh: dict[str, Any], *, write_them: bool) -> int:
    """Print, or write, the differences; return 1 if there are any and they are not written."""
    stored = {name: read(name) for name in PARTS}
    figures = {name: each for name, each in (stored | fresh).items() if each is not None}
    blocks = [block for block in all_blocks() if block.parts & set(fresh)]
    lines = [line for name in fresh for line in _stored_drift(name, stored[name], fresh[name])]
    lines += [line for block in blocks for line in block.drift(figures)]
    for line in lines:
        print(line)
    if not write_them:
        return int(bool(lines))
    for name, each in fresh.items():
        write(name, each)
    for document in dict.fromkeys(block.document for block in blocks):
        replace_blocks(document, figures)
    return 0


def _stored_drift(name: str, stored: Any, fresh: Any) -> list[str]:
    where = f"studies/figures/results/{name}.json"
    if stored is None:
        return [f"{where}: said nothing, as there is no such file"]
    return [f"{where}: {line}" for line in drift(stored, fresh)]


def _list() -> None:
    """Print a line for each part (minutes, traces, documents), then what is not made here."""
    blocks = all_blocks()
    for part in PARTS.values():
        needs = f"; needs {', '.join(part.traces)}" if part.traces else ""
        shown = _shown_in(part, blocks)
        print(f"{part.group:12} {part.name:20} {part.minutes:5g} min  {shown}{needs}")
    print("\nNot made here" + (package.__doc__ or "").partition("Not made here")[2].rstrip())


def _shown_in(part: Part, blocks: Sequence[DocumentBlock]) -> str:
    return ", ".join(dict.fromkeys(b.name for b in blocks if part.name in b.parts)) or "nowhere"


if __name__ == "__main__":
    sys.exit(main())
