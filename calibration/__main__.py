"""`python -m calibration`: the same as `milepost calibrate`, requiring only torch and scipy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from calibration.calibrate import calibrated
from calibration.settings import TypedOptions
from simulator.base.errors import MilepostError, UsageError, printable
from simulator.base.flags import add_flags

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    typed = TypedOptions(**vars(_parser().parse_args(arguments)))
    try:
        lines = calibrated(typed)
    except MilepostError as error:
        print(f"error: {printable(str(error), limit=4000)}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # for example a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(where)}{error.strerror or error}", file=sys.stderr)
        return UsageError.exit_code
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where it stood", file=sys.stderr)
        return INTERRUPTED
    print("\n".join(lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m calibration", description=__doc__)
    add_flags(parser, TypedOptions)
    return parser


if __name__ == "__main__":
    sys.exit(main())
