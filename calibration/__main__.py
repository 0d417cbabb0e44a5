"""`python -m calibration`: the same as `milepost calibrate`, requiring only torch and scipy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from calibration.calibrate import calibrate, parse_budget, plan_lines, plan_of
from calibration.settings import Options
from calibration.summary import summary_lines
from simulator.base.errors import MilepostError, UsageError, printable

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        lines = run(options)
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


def run(chosen: argparse.Namespace) -> list[str]:
    """Calibrate, or with --dry-run plan, and return the lines to print."""
    options = Options(
        model=chosen.model,
        device=chosen.device,
        out=chosen.out,
        budget_seconds=None if chosen.budget is None else parse_budget(chosen.budget),
        seed=chosen.seed,
        fresh=chosen.fresh,
        group=chosen.group,
        dtype=chosen.dtype,
    )
    if chosen.dry_run:
        return plan_lines(*plan_of(options))
    return summary_lines(calibrate(options), options.out)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m calibration", description=__doc__)
    parser.add_argument("--model", required=True, help="a name, or a Hugging Face folder")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:0 (default: cpu)")
    parser.add_argument("--out", required=True, type=Path, help="the profile to write (JSON)")
    parser.add_argument("--dtype", help="float32, bfloat16 or float16 (default: by device)")
    parser.add_argument("--budget", help="time to keep to, as in '10 min'; least important first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="measure everything anew")
    parser.add_argument("--group", action="store_true", help="one layer group, times their number")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and its time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
