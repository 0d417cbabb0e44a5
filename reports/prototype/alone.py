"""`python -m reports.prototype.alone`: `milepost prototype` without its page, where only torch is.

It measures and writes `prototype.json`; `milepost prototype --from prototype.json` makes the page
of it anywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from reports.prototype.files import write_measured
from reports.prototype.run import measure
from reports.prototype.setup import Setup
from reports.prototype.summary import summary_lines
from simulator.base.errors import MilepostError, UsageError, printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    chosen = vars(_parser().parse_args(arguments))
    out = chosen.pop("out")
    try:
        run, profile = measure(Setup(**chosen))
        write_measured(out, run, profile)
    except MilepostError as error:
        print(f"error: {printable(str(error), limit=4000)}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # a disk that is full, say
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(where)}{error.strerror or error}", file=sys.stderr)
        return UsageError.exit_code
    print("\n".join(summary_lines(run)))
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return a parser with an option for every field of the setup."""
    parser = argparse.ArgumentParser(prog="python -m reports.prototype.alone", description=__doc__)
    kinds = {"trace": Path, "block": int, "requests": int, "passes": int, "seed": int}
    for field in fields(Setup):
        flag, default = f"--{field.name}", field.default
        if field.name == "group":
            parser.add_argument(flag, action="store_true")
        else:
            kind = float if field.name == "load" else kinds.get(field.name, str)
            parser.add_argument(flag, type=kind, default=default, help=f"default: {default}")
    parser.add_argument("--out", type=Path, required=True, help="folder for prototype.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
