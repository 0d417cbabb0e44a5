"""`python -m reports.prototype.alone`: `milepost prototype` without its page, with torch only.

It measures and writes `prototype.json`, from which `milepost prototype --from prototype.json` makes
the page on any machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from calibration.prototype.errors import service_errors
from calibration.prototype.served import PrototypeRun
from reports.prototype.run import measure, write_measured
from reports.prototype.setup import Setup, SetupOptions
from reports.prototype.summary import answer, cautions
from reports.report import plain
from simulator.base.errors import MilepostError, UsageError, printable
from simulator.base.flags import add_flags


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
    except OSError as error:  # for example a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(where)}{error.strerror or error}", file=sys.stderr)
        return UsageError.exit_code
    print("\n".join(_lines(run)))
    return 0


def _lines(run: PrototypeRun) -> Iterator[str]:
    """Yield a short summary; the page has the rest."""
    setting = run.setting
    yield f"{setting.model} ({setting.scale}, {setting.dtype}) on {setting.device}, {setting.clock}"
    yield f"placer {setting.placer}; profile {setting.profile} ({setting.profile_kind})"
    yield plain(answer(run))
    for row in service_errors(run.requests)[1:]:
        errors = f"median |error| {row.median_absolute:.1%}, worst {row.worst:+.1%}"
        yield f"  {row.regime}: {row.requests:,} requests, {errors}"
    yield from (f"note: {caution}" for caution in cautions(run))


def _parser() -> argparse.ArgumentParser:
    """Return a parser with one option for each field of the setup."""
    parser = argparse.ArgumentParser(prog="python -m reports.prototype.alone", description=__doc__)
    add_flags(parser, SetupOptions)
    parser.add_argument("--out", type=Path, required=True, help="folder for prototype.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
