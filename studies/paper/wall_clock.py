"""The wall-clock experiment of arXiv 2605.05219: what each strategy really takes to prefill.

    python studies/paper/wall_clock.py                                    # toy model, CPU, minutes
    python studies/paper/wall_clock.py --model qwen3.5-0.8b --group --device cuda --dtype float32 \
        --generator "system_prompts:count=60" --requests 400 --out group.json
    python studies/paper/wall_clock.py --model qwen3.5-0.8b --device cuda --requests 400 \
        --generator "documents:count=15" --out whole.json

Serves one trace through a real model with one strategy after the other, and sets the total time of
restores, prefills and captures beside what the simulator says of the same work. It needs numpy,
scipy and torch alone (from the repository's root, with PYTHONPATH=. where Milepost is not
installed). `--group` is the paper's model: one layer group of Qwen3.5 0.8B in fp32.

What differs from the paper: states are captured in the pass that serves the request, which is cut
there, and not by a second prefill; one cache over all prefixes, unbounded, instead of the last K
entries; positions are not floored to 64 tokens.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from calibration.prototype.errors import noise, service_errors
from calibration.prototype.served import PrototypeRun
from reports.prototype import GENERATOR, Setup, built, measure
from simulator.errors import MilepostError
from simulator.files import write_text

STRATEGIES = (
    "none",
    "block:size=64",  # the densest that really exists
    "block:size=512",
    "balanced:budget=8",
    "sqrt",
    "dyadic",  # the paper's "log"
    "last",
    "published:budget=8",  # the paper's "dp"
    "optimal:budget=8",
    "branch",
    "adaptive",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A strategy: seconds are sums over all requests, `error` is simulated over measured less 1."""

    strategy: str
    saved_share: float
    checkpoints: int
    cuts: int
    simulated_seconds: float
    measured_seconds: float
    error: float
    median_absolute_error: float
    noise: float | None


def row_of(run: PrototypeRun) -> Row:
    """Return what a run says of its strategy."""
    every = service_errors(run.requests)[0]
    saved = sum(request.saved_tokens for request in run.requests)
    return Row(
        strategy=run.setting.placer,
        saved_share=saved / sum(request.prompt_tokens for request in run.requests),
        checkpoints=sum(len(request.positions) for request in run.requests),
        cuts=sum(request.cuts for request in run.requests),
        simulated_seconds=every.simulated_seconds,
        measured_seconds=every.measured_seconds,
        error=every.bias,
        median_absolute_error=every.median_absolute,
        noise=noise(run.requests),
    )


def table_lines(rows: Sequence[Row]) -> list[str]:
    """Return the rows as text, with the time of each strategy as a share of the first one's."""
    lines = [
        f"{'strategy':<22}{'saved':>7}{'states':>8}{'cuts':>7}{'simulated':>12}{'measured':>11}"
        f"{'error':>8}{'of the first: simulated, measured':>36}"
    ]
    first = rows[0]
    for row in rows:
        shares = (
            row.simulated_seconds / first.simulated_seconds,
            row.measured_seconds / first.measured_seconds,
        )
        lines.append(
            f"{row.strategy:<22}{row.saved_share:>7.1%}{row.checkpoints:>8}{row.cuts:>7}"
            f"{row.simulated_seconds:>10.3f} s{row.measured_seconds:>9.3f} s{row.error:>+8.1%}"
            f"{shares[0]:>27.1%}{shares[1]:>9.1%}"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment; return the exit code."""
    chosen = vars(_parser().parse_args(arguments))
    out, strategies = chosen.pop("out"), chosen.pop("strategies")
    rows = []
    try:
        site = built(Setup(**chosen))
        for strategy in strategies:
            run, _ = measure(Setup(**chosen, placer=strategy), site=site)
            rows.append(row_of(run))
            print(table_lines(rows)[-1], file=sys.stderr, flush=True)
        if out is not None:
            found = {"setting": asdict(run.setting), "rows": [asdict(row) for row in rows]}
            write_text(out, json.dumps(found, indent=1) + "\n")
    except MilepostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print("\n".join(table_lines(rows)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="toy-qwen3.5")
    parser.add_argument("--group", action="store_true", help="one layer group")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", help="float32 or bfloat16")
    parser.add_argument("--generator", default=GENERATOR)
    parser.add_argument("--requests", type=int, default=48)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--profile", help="default: a quick one, measured beside each strategy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--out", type=Path, help="JSON file of the rows")
    return parser


if __name__ == "__main__":
    sys.exit(main())
