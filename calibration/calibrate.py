"""`milepost calibrate`: measures a model and writes its cost profile.

torch is imported only when something is run.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace

from calibration import preflight
from calibration.estimate import TimeEstimate, fit_budget
from calibration.plan import PlanBlock, blocks_of, grid_for
from calibration.precision import check_dtype
from calibration.settings import Options, TypedOptions
from calibration.subject import Subject, find_subject
from calibration.summary import summary_lines
from simulator.base.bounds import MAX_SEED
from simulator.base.errors import UsageError
from simulator.base.units import parse_seconds
from simulator.costs.profile import Profile

TOY_BUDGET_SECONDS = 150.0


def plan_of(options: Options) -> tuple[Subject, TimeEstimate, list[PlanBlock]]:
    """Return what would be measured and the estimated time; nothing is run.

    Raises
    ------
    UsageError, DataError
        If the model is unknown, or an option is out of range.
    """
    _check(options)
    subject = find_subject(options.model, group=options.group)
    return _planned(within_minutes(options, subject), subject)


def calibrate(options: Options) -> Profile:
    """Measure a model, fit the cost form, write the profile and return it.

    Raises
    ------
    UsageError
        If torch, transformers or the device is missing, memory is insufficient, or the journal
        belongs to another calibration.
    DataError
        If the model fails the exactness check, or a file is invalid.
    """
    started = time.monotonic()  # the budget includes importing torch
    _check(options)
    subject = find_subject(options.model, group=options.group)
    preflight.check_libraries()
    machine = preflight.examine(options.device)
    from calibration.session import CalibrationSession

    return CalibrationSession.opened(
        within_minutes(options, subject), subject, machine, started
    ).run()


def within_minutes(options: Options, subject: Subject) -> Options:
    """Return the options, with a default budget of 150 s if the model is the toy model."""
    if subject.toy and options.budget_seconds is None:
        return replace(options, budget_seconds=TOY_BUDGET_SECONDS)
    return options


def calibrated(typed: TypedOptions) -> list[str]:
    """Calibrate, or plan with `dry_run`, and return the lines to print; raises as `calibrate`."""
    options = Options(
        typed.model,
        typed.device,
        typed.out,
        None if typed.budget is None else parse_budget(typed.budget),
        typed.seed,
        typed.fresh,
        typed.group,
        typed.dtype,
    )
    if typed.dry_run:
        return plan_lines(*plan_of(options))
    return summary_lines(calibrate(options), options.out)


def parse_budget(text: str) -> float:
    """Return the seconds of a budget such as "10m", "10 min" or "90 s"."""
    minutes = re.sub(r"^\s*([0-9.]+)\s*m\s*$", r"\1 min", text)
    return parse_seconds(minutes, "--budget")


def plan_lines(subject: Subject, estimate: TimeEstimate, blocks: list[PlanBlock]) -> list[str]:
    """Return the plan of a calibration as text, one line per block of measurements."""
    lines = [f"{subject.name}, {subject.plan.scale}, on {estimate.device}", ""]
    lines.append(f"{'block':<26}{'points':>8}{'repetitions':>13}{'expected':>11}")
    total = estimate.fixed_seconds
    for block in blocks:
        seconds = estimate.block_seconds(block)
        total += seconds
        lines.append(
            f"{block.name:<26}{len(block.items):>8}{block.repetitions:>13}{seconds:>9.0f} s"
        )
    lines.append(f"{'libraries, model, gate':<47}{estimate.fixed_seconds:>9.0f} s")
    lines.append(f"{'all':<47}{total:>9.0f} s")
    lines += ["", "Times are guesses from FLOPs until the first points are measured."]
    return lines


def _planned(options: Options, subject: Subject) -> tuple[Subject, TimeEstimate, list[PlanBlock]]:
    """Return the model, a time estimate, and the blocks of measurements that fit the budget."""
    grid = grid_for(options.device, subject.most_tokens)
    geometry = subject.plan.built
    kind = "cuda" if grid.cuda else "cpu"
    estimate = TimeEstimate(geometry, kind, grid.warm_ups)
    blocks = blocks_of(grid, subject.plan.geometry.state_bytes, options.seed)
    left = options.budget_seconds
    if left is not None:
        left -= estimate.fixed_seconds
    return subject, estimate, fit_budget(blocks, estimate, left)


def _check(options: Options) -> None:
    """Validate the options before slow imports."""
    preflight.check_device(options.device)
    check_dtype(options.dtype)
    if options.out.suffix != ".json":
        raise UsageError(f"--out: expected a name that ends in .json, found '{options.out}'")
    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"--out: there is no folder '{options.out.parent}'")
    if options.budget_seconds is not None and options.budget_seconds <= 0:
        raise UsageError("--budget: expected more than no time")
    if not 0 <= options.seed <= MAX_SEED:
        raise UsageError(f"--seed: expected 0 to 2**63 - 1, found {options.seed}")
