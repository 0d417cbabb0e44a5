"""`milepost new`: write a starter study file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from reports.commands.declared import options
from reports.console import print_line
from simulator.base.errors import UsageError, did_you_mean, printable

KINDS = ("comparison", "capacity", "drift")


@options
class NewCommand:
    """Write a commented study to begin with; an existing file is left alone."""

    kind: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What the study is about.")]
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: KIND.toml; -: print it.")
    ] = None

    def run(self) -> None:
        """Write the study."""
        if self.kind not in KINDS:
            shown = printable(self.kind, 40)
            raise UsageError(f"unknown kind of study '{shown}'{did_you_mean(shown, [*KINDS])}")
        path = Path(f"{self.kind}.toml") if self.file is None else self.file
        if str(path) == "-":
            print(starter(self.kind, f"{self.kind}.toml"), end="")
            return
        _write(path, starter(self.kind, str(path)))
        print_line(f"{path}: a study to change; its first lines say how to run it")


def starter(kind: str, name: str) -> str:
    """Return the text of a starter study of a kind, for a file of that name."""
    text = (files("reports") / "templates" / "new" / f"{kind}.toml").read_text(encoding="utf-8")
    return text.replace("FILE", _as_word(name))


def _as_word(name: str) -> str:
    """Return a file name quoted for a shell, on one line."""
    import shlex

    return shlex.quote(printable(name))


def _write(path: Path, text: str) -> None:
    from simulator.base.files import write_text

    if path.exists() or path.is_symlink():
        raise UsageError(f"{printable(str(path))}: is there already, and is left as it is")
    write_text(path, text)
