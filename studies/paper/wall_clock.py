"""The wall-clock experiment of arXiv 2605.05219: measured prefill times of each strategy.

    python studies/paper/wall_clock.py --out toy                          # toy model, CPU, minutes
    python studies/paper/wall_clock.py --out group --model qwen3.5-0.8b --group --budget 8m \
        --device cuda --dtype float32 --generator "system_prompts:count=60" --requests 400
    python studies/paper/wall_clock.py --out whole --model qwen3.5-0.8b --budget 8m \
        --device cuda --generator "documents:count=15" --requests 400

Calibrates the model, then serves one trace through it with every strategy, and compares the
measured time of restores, prefills and captures with the simulated time of the same work: in total,
and to the first token of each request, waits included. Each of several passes runs every strategy
once, so that a slow minute affects all alike. It needs only numpy, scipy and torch (from the
repository's root, with PYTHONPATH=. where Milepost is not installed). `--group` in float32 is the
paper's model: one layer group of Qwen3.5 0.8B.

The folder `--out` keeps `profile.json`, each pass as soon as it ends (so that the same command
resumes an interrupted run), `wall_clock.json` with everything printed, and a file for each
strategy, from which `milepost prototype --from FILE --out FOLDER` makes a page.

Differences from the paper: states are captured in the pass that serves the request, by cutting its
prefill, and not by a second prefill; one unbounded cache over all prefixes replaces the last K
entries; positions are not rounded down to 64 tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration.calibrate import calibrate, parse_budget
from calibration.catalogue import open_profile
from calibration.clock import CallClock, clock_for
from calibration.journal import MeasurementJournal
from calibration.preflight import check_libraries
from calibration.prototype.errors import RegimeError, noise, service_errors, ttft_errors
from calibration.prototype.served import Pass, PrototypeRun, Served, write_run
from calibration.settings import Options
from reports.files import make_folder
from reports.prototype.run import run_of
from reports.prototype.setup import GENERATOR, Setup, built, check, rules_of, trace_of
from reports.prototype.summary import cautions
from simulator.base.decode import decode
from simulator.base.errors import MilepostError
from simulator.base.files import write_text
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile

if TYPE_CHECKING:
    from calibration.prototype.run import Prototype
    from calibration.prototype.site import Site

PASSES = "passes.journal"
UNIT, SLOWDOWN = "seconds of the reference pass", "slowdown"
STRATEGIES = (
    "none",
    "block:size=64",
    "block:size=256",
    "balanced:budget=4",
    "sqrt",
    "dyadic",  # "log" in the paper
    "last",
    "published:budget=4",  # "dp" in the paper
    "optimal:budget=4",
    "branch",
)


@dataclass(frozen=True, slots=True)
class Row:
    """Results of a strategy, summed over all requests; `error` is simulated / measured - 1."""

    strategy: str
    saved_share: float
    checkpoints: int
    cuts: int
    simulated_seconds: float
    measured_seconds: float
    error: float
    median_absolute_error: float
    simulated_mean_ttft_seconds: float
    measured_mean_ttft_seconds: float
    noise: float | None


def row_of(run: PrototypeRun) -> Row:
    """Return the results of a run."""
    every, ttft = service_errors(run.requests)[0], ttft_errors(run.requests)[0]
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
        simulated_mean_ttft_seconds=ttft.simulated_seconds / ttft.requests,
        measured_mean_ttft_seconds=ttft.measured_seconds / ttft.requests,
        noise=noise(run.requests),
    )


def strategy_lines(rows: Sequence[Row]) -> list[str]:
    """Return a table of the strategies; shares are relative to the first one's time."""
    first = rows[0]
    lines = _head(
        "strategy, saved, states, cuts, simulated s, measured s, error, median error, "
        "share simulated, share measured, mean TTFT simulated s, measured s, passes apart"
    )
    for row in rows:
        cells = [
            row.strategy,
            f"{row.saved_share:.1%}",
            f"{row.checkpoints}",
            f"{row.cuts}",
            f"{row.simulated_seconds:.2f}",
            f"{row.measured_seconds:.2f}",
            f"{row.error:+.1%}",
            f"{row.median_absolute_error:.1%}",
            f"{row.simulated_seconds / first.simulated_seconds:.1%}",
            f"{row.measured_seconds / first.measured_seconds:.1%}",
            f"{row.simulated_mean_ttft_seconds:.3f}",
            f"{row.measured_mean_ttft_seconds:.3f}",
            "unknown" if row.noise is None else f"{row.noise:.1%}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def regime_lines(errors: Sequence[RegimeError]) -> list[str]:
    """Return a table of the errors of all strategies together, by regime."""
    lines = _head("regime, requests, simulated s, measured s, bias, median, median error, worst")
    for row in errors:
        lines.append(
            f"| {row.regime} | {row.requests} | {row.simulated_seconds:.2f} | "
            f"{row.measured_seconds:.2f} | {row.bias:+.1%} | {row.median:+.1%} | "
            f"{row.median_absolute:.1%} | {row.worst:+.1%} |"
        )
    return lines


def run_all(setup: Setup, profile: Profile, strategies: Sequence[str], out: Path) -> list[str]:
    """Serve the passes that the folder lacks, write the results, and return them as text."""
    from calibration.prototype.queueing import at_load
    from calibration.prototype.run import Prototype

    setups = [replace(setup, placer=strategy) for strategy in strategies]
    trace, site = trace_of(setup), built(setup)
    if setup.stretched_to is not None:
        trace = at_load(trace, CostModel(profile), setup.stretched_to)
    head = {
        "model": setup.model,
        "scale": site.scale,
        "dtype": site.dtype,
        "device": site.machine.name,
        "profile": asdict(profile.prefill.F) | {"id": profile.profile_id},
        "trace": [setup.generator, len(trace), setup.seed],
    }
    journal = MeasurementJournal(out / PASSES, json.loads(json.dumps(head)))
    try:
        with site.at_work():
            clock = _clock(site, profile, journal)
            made = [
                Prototype(trace, profile, rules_of(one), site.model, clock, setup.seed)
                for one in setups
            ]
            for number in range(setup.passes):
                _serve_all(number, list(zip(strategies, made, strict=True)), journal)
    finally:
        journal.close()
    runs = [
        run_of(one, site, trace, profile, prototype.outcome())
        for one, prototype in zip(setups, made, strict=True)
    ]
    return _written(runs, journal.facts, out)


def _clock(site: Site, profile: Profile, journal: MeasurementJournal) -> CallClock:
    """Return the clock; on a CPU its unit is stored and reused when the run is resumed."""
    from calibration.prototype.steady import SteadyClock

    if site.machine.kind == "cpu" and UNIT not in journal.facts:
        unit = site.unit_seconds(profile)
        clock = SteadyClock(clock_for(site.machine.device), site.model, unit)
        journal.add_fact(UNIT, clock.unit_seconds)
        journal.add_fact(SLOWDOWN, clock.slowdown)
    return site.clock(profile, journal.facts.get(UNIT))


def _serve_all(
    number: int, prototypes: Sequence[tuple[str, Prototype]], journal: MeasurementJournal
) -> None:
    """Serve one pass of each strategy, in alternating order, and store it at once."""
    for strategy, prototype in prototypes if number % 2 == 0 else reversed(prototypes):
        name = f"pass {number} of {strategy}"
        if name in journal.facts:
            prototype.take(decode(Pass, journal.facts[name]["pass"], name))
            continue
        start = time.perf_counter()
        served = prototype.serve()
        spent = time.perf_counter() - start
        fact = {"pass": asdict(served), "load_average": os.getloadavg()[0]}
        journal.add_fact(name, json.loads(json.dumps(fact)), spent)
        service = sum(request.measured_seconds for request in served.requests)
        print(f"{name}: {service:.1f} s served in {spent:.0f} s", file=sys.stderr, flush=True)


def _written(runs: Sequence[PrototypeRun], facts: Mapping[str, Any], out: Path) -> list[str]:
    """Write the results and return them as text."""
    rows = [row_of(run) for run in runs]
    every: list[Served] = [request for run in runs for request in run.requests]
    service, ttft = service_errors(every), ttft_errors(every)
    for number, run in enumerate(runs):
        write_run(out / f"strategy-{number:02}.json", run)
    document = {
        "setting": asdict(runs[0].setting),
        "slowdown": facts.get(SLOWDOWN),
        "load_averages": [fact["load_average"] for fact in facts.values() if type(fact) is dict],
        "extrapolated_requests": sum(run.extrapolated_requests for run in runs),
        "rows": [asdict(row) for row in rows],
        "service": [asdict(row) for row in service],
        "ttft": [asdict(row) for row in ttft],
    }
    write_text(out / "wall_clock.json", json.dumps(document, indent=1) + "\n")
    lines = [*strategy_lines(rows), "", "restores, prefills and captures", *regime_lines(service)]
    lines += ["", "times to first token, waits included", *regime_lines(ttft), ""]
    if SLOWDOWN in facts:
        lines.append(
            f"note: A reference pass took {facts[SLOWDOWN]:.2f} times what the profile says of it; "
            "seconds are those of the machine as it was for the profile."
        )
    setting = runs[0].setting
    lines.append(f"note: The profile {setting.profile} is of the kind '{setting.profile_kind}'.")
    return [*lines, *(f"note: {caution}" for caution in cautions(runs[0]))]


def _head(names: str) -> list[str]:
    columns = names.split(", ")
    return [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the experiment; return the exit code."""
    chosen = vars(_parser().parse_args(None if arguments is None else list(arguments)))
    out, strategies, budget = chosen.pop("out"), chosen.pop("strategies"), chosen.pop("budget")
    fresh = chosen.pop("fresh")
    setup = Setup(**chosen)
    try:
        check(setup)
        check_libraries()
        make_folder(out)
        if fresh:
            (out / PASSES).unlink(missing_ok=True)
        profile = _profile(setup, budget, out, fresh=fresh)
        print("\n".join(run_all(setup, profile, strategies, out)))
    except MilepostError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _profile(setup: Setup, budget: str | None, out: Path, *, fresh: bool) -> Profile:
    """Return the named profile, or calibrate one here."""
    if setup.profile is not None:
        return open_profile(setup.profile)
    return calibrate(
        Options(
            setup.model,
            setup.device,
            out / "profile.json",
            None if budget is None else parse_budget(budget),
            setup.seed,
            fresh,
            group=setup.group,
            dtype=setup.dtype,
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for all results")
    parser.add_argument("--model", default="toy-qwen3.5", help="a name, or a Hugging Face folder")
    parser.add_argument("--group", action="store_true", help="one layer group")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:0")
    parser.add_argument("--dtype", help="float32, bfloat16 or float16")
    parser.add_argument("--budget", help="time budget of the calibration, such as 8m")
    parser.add_argument("--profile", help="use this profile instead of calibrating")
    parser.add_argument("--generator", default=GENERATOR, help="generator of the trace")
    parser.add_argument("--requests", type=int, default=48)
    parser.add_argument("--passes", type=int, default=3, help="passes of every strategy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="measure everything anew")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES, help="placers; none first")
    return parser


if __name__ == "__main__":
    sys.exit(main())
