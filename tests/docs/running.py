"""What each kind of code block must do: run, parse, or be a file that later blocks use."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from reports import Study
from reports.capacity.price import read_prices
from simulator.base.errors import MilepostError
from tests.docs.fences import LANGUAGES, OUTPUT, CodeBlock
from tests.docs.shell import BadCommandError, check, commands_of

PRICES = "prices.toml"
OPTIONAL = ("pandas", "pyarrow")  # a block that imports one is compiled alone where it is not there
SHORTER = {"jobs=2": "jobs=1", '"requests": 2000': '"requests": 200'}  # in python blocks


class BrokenBlockError(Exception):
    """A code block that does not do what it should."""


def run_block(block: CodeBlock, names: dict[str, object]) -> None:
    """Run or parse a block in the working folder, with the names of earlier python blocks."""
    if block.language not in LANGUAGES:
        raise BrokenBlockError(f"expected one of {', '.join(LANGUAGES)}, found {block.language!r}")
    if block.title and block.title != OUTPUT:
        Path(block.title).write_text(block.text)
    try:
        if block.language == "console":
            _run_commands(block)
        elif block.language == "python":
            _run_python(block, names)
        elif block.language == "toml":
            _read_toml(block)
    except (BadCommandError, MilepostError) as error:
        raise BrokenBlockError(str(error)) from error


def _run_commands(block: CodeBlock) -> None:
    """Run the commands; where the document shows what they print, as they are written."""
    printed = StringIO()
    with redirect_stdout(printed):
        for words in commands_of(block.text):
            check(words, smaller=not block.output)
    lines = [" ".join(line.split()) for line in printed.getvalue().splitlines()]
    for line in block.output.splitlines():
        shown = " ".join(line.split())
        start = shown.removesuffix(" ...").removesuffix("...")
        if not any(each == shown or (start != shown and each.startswith(start)) for each in lines):
            raise BadCommandError(f"not in the output: {shown!r}; {printed.getvalue()}")


def _run_python(block: CodeBlock, names: dict[str, object]) -> None:
    text = block.text
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    code = compile("\n" * block.line + text, str(block.document), "exec")
    try:
        exec(code, names)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
            return
        raise BrokenBlockError(f"{type(error).__name__}: {error}") from error


def _read_toml(block: CodeBlock) -> None:
    """Read a file of prices, or a study or a part of one."""
    path = Path(block.title or "study.toml")
    path.write_text(block.text)
    if path.name == PRICES:
        read_prices(path)
    else:
        Study.read(path)
