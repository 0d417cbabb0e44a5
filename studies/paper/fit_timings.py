"""Fit the cost form to the prefill timings published by the authors of arXiv 2605.05219.

    python studies/paper/fit_timings.py RUNS.parquet --run system_prompts_clean --out profile.json

RUNS.parquet has a row for each request of their logs: run, strategy, request, prompt_tokens,
saved_tokens, prefill_s. Every fifth request, in all strategies, is held out. Prints coefficients,
errors on the held-out requests, and the total time of each strategy; with --out writes a profile of
the timed model: one layer group of Qwen3.5 0.8B (3 recurrent layers, 1 of attention) in fp32 on an
RTX 2080 Super.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from calibration.fit.bands import draw_forms
from calibration.fit.errors import FitErrors, errors_by_regime, outliers
from calibration.fit.fit import fit_form
from calibration.fit.form import CostForm
from calibration.fit.points import Points
from calibration.fit.sections import prefill_section, validation_section
from simulator.base.errors import DataError, MilepostError
from simulator.base.files import write_text
from simulator.costs.profile import Profile, parse_profile, profile_to_json

RUNS = ("system_prompts_clean", "quality_clean")  # other runs were not timed on a GPU
COLUMNS = ("run", "strategy", "request", "prompt_tokens", "saved_tokens", "prefill_s")
HELD_OUT = 5
KNOTS = (64, 65, 128, 192, 256, 512, 1024, 2048, 4096, 8192)
DEVICE_GBPS = 248.0  # half of the data sheet's 496 GB/s: a copy reads and writes
WARNINGS = (
    "the logs tell prefill only: copies are taken from the data sheet, capture from cut prefills",
    "one layer group, without embedding and output head",
)


@dataclass(frozen=True, slots=True)
class Straight:
    """The form `a + b n + e n (c + n/2)` in seconds: each coefficient with its 95 % interval.

    `n` are the prefilled tokens and `c` the cached tokens before them.
    """

    start: tuple[float, float, float]
    token: tuple[float, float, float]
    pair: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The form with a table F, fitted to four of five requests, and its errors on the others."""

    form: CostForm
    points: Points
    held_out: Points
    errors: list[FitErrors]
    totals: dict[str, float]


def read_run(path: Path, run: str) -> pl.DataFrame:
    """Return the requests of a run, with `n`, the number of prefilled tokens."""
    try:
        rows = pl.read_parquet(path, columns=COLUMNS).filter(pl.col("run") == run)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(str(path), f"expected Parquet with {', '.join(COLUMNS)}") from error
    if not len(rows):
        raise DataError(str(path), f"no request of the run '{run}'")
    return rows.with_columns(n=pl.col("prompt_tokens") - pl.col("saved_tokens"))


def points_of(rows: pl.DataFrame) -> Points:
    """Return the requests as points, each of which was timed once."""
    seconds = rows["prefill_s"].to_numpy()[:, None]
    return Points(rows["saved_tokens"].to_numpy(), rows["n"].to_numpy(), seconds)


def fit_straight(rows: pl.DataFrame, seed: int = 0) -> Straight:
    """Return the least-squares fit with a linear F, and its intervals."""
    points = points_of(rows)
    knots = np.array([1, int(points.n.max())])
    form = fit_form(points, knots, errors="absolute", context_term=False)
    forms = draw_forms(form, points, seed=seed, draws=100, errors="absolute", context_term=False)
    table = np.array([_straight(each) for each in [form, *forms]])
    low, high = np.quantile(table[1:], [0.025, 0.975], axis=0)
    ends = [(float(table[0, k]), float(low[k]), float(high[k])) for k in range(3)]
    return Straight(*ends)


def fit_table(rows: pl.DataFrame) -> Fitted:
    """Return the fit of a table F to four of five requests."""
    out = rows["request"].to_numpy() % HELD_OUT == 0
    everything = points_of(rows)
    points, held_out = everything.select(~out), everything.select(out)
    least, most = int(points.n.min()), int(points.n.max())
    knots = np.array([least, *(n for n in KNOTS if least < n < most), most])
    form = fit_form(points, knots)
    fitted = rows.with_columns(fit_s=form.seconds(everything.c, everything.n))
    sums = fitted.group_by("strategy").agg(pl.col("fit_s", "prefill_s").sum()).sort("strategy")
    totals = dict(zip(sums["strategy"], (sums["fit_s"] / sums["prefill_s"] - 1), strict=True))
    return Fitted(form, points, held_out, errors_by_regime(form, held_out), totals)


def profile_of(fitted: Fitted, run: str, seed: int = 0) -> Profile:
    """Return the profile of one layer group on the GPU of the logs."""
    draws = draw_forms(fitted.form, fitted.points, seed=seed)
    validation = validation_section(fitted.form, fitted.points, fitted.held_out, draws)
    ssm, conv = 3 * 16 * 128 * 128 * 4, 3 * 3 * 2048 * 4 * 4  # fp32, 4 columns of convolution
    data = {
        "schema_version": 1,
        "profile_id": f"paper-{run.replace('_', '-')}",
        "kind": "measured",
        "source": f"GPU times of prefill in the logs of arXiv 2605.05219, run {run}",
        "licence": "as the logs",
        "created": "2026-11-30",
        "seed": seed,
        "hardware": {"name": "NVIDIA GeForce RTX 2080 Super"},
        "model": {
            "name": "qwen3.5-0.8b",
            "layer_types": {"recurrent": 3, "attention": 1},
            "scale": "group x 1",
        },
        "state": {
            "ssm_bytes": ssm,
            "conv_bytes": conv,
            "bytes_per_checkpoint": ssm + conv,
            "alignment": 64,
        },
        "kv": {"bytes_per_token": 2 * 2 * 256 * 4, "dtype": "float32"},
        "prefill": prefill_section(fitted.form, fitted.points, draws),
        "checkpoint": {
            "cut_overhead": "prefill_table",
            "snapshot_us_per_mib": round(2**20 / (DEVICE_GBPS * 1e3), 6),
        },
        "io": {"d2d": {"latency_us": 0.0, "gbps": DEVICE_GBPS}},
        "validation": validation | {"warnings": list(WARNINGS)},
    }
    return parse_profile(data, data["profile_id"])


def _straight(form: CostForm) -> tuple[float, float, float]:
    """Return the constant, the seconds per token and the seconds per pair of tokens."""
    first, last = form.own_seconds
    token = (last - first) / (form.knots[1] - form.knots[0])
    return float(first - token * form.knots[0]), float(token), form.pair_seconds


def _print_straight(name: str, line: Straight) -> None:
    units = (
        ("ms", 1e3, line.start),
        ("us a token", 1e6, line.token),
        ("ns a pair", 1e9, line.pair),
    )
    parts = [
        f"{k * v:.2f} ({k * low:.2f} to {k * high:.2f}) {unit}" for unit, k, (v, low, high) in units
    ]
    print(f"{name}: {', '.join(parts)}")


def _print_table(fitted: Fitted) -> None:
    print(f"table F, {len(fitted.points):,} requests; on {len(fitted.held_out):,} held out:")
    for row in fitted.errors:
        worst = f"worst {row.worst:+.1%} at {row.worst_n:,} tokens behind {row.worst_c:,}"
        errors = f"mean {row.mean:.1%}, bias {row.bias:+.1%}"
        print(f"  {row.regime}: {row.points:,} requests, {errors}, {worst}")
    name, off = max(fitted.totals.items(), key=lambda item: abs(item[1]))
    print(f"total time of {len(fitted.totals)} strategies: worst {off:+.1%} ({name})")
    for c, n, error in outliers(fitted.form, fitted.points):
        print(f"outlier: {n:,} tokens behind {c:,}, {error:+.0%}")


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", type=Path, metavar="RUNS.parquet")
    parser.add_argument("--run", choices=RUNS, default=RUNS[0])
    parser.add_argument("--out", type=Path, help="profile to write")
    options = parser.parse_args()
    try:
        rows = read_run(options.runs, options.run)
        for name, hit in (
            ("hits", pl.col("saved_tokens") > 0),
            ("misses", pl.col("saved_tokens") == 0),
        ):
            _print_straight(name, fit_straight(rows.filter(hit)))
        fitted = fit_table(rows)
        _print_table(fitted)
        if options.out is not None:
            write_text(options.out, profile_to_json(profile_of(fitted, options.run)))
    except MilepostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
