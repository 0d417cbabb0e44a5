"""`milepost run`: one simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.again import typed_again
from reports.commands.declared import options
from reports.commands.options import DryRunOption, OutputOptions
from reports.commands.study_options import GridOptions, PercentileOptions, StudyOptions
from reports.console import Progress, print_json, print_line, say
from simulator.base.errors import UsageError

if TYPE_CHECKING:
    from reports.execution.tick import Tick
    from reports.study.cells import Cell
    from reports.study.sections import ResolvedStudy
    from reports.study.settings import Settings
    from simulator.results.result import Result
    from simulator.trace.trace import Trace


@options
class RunCommand(GridOptions, PercentileOptions, StudyOptions, DryRunOption, OutputOptions):
    """Replay a workload through one cache and say what was saved, and why not more.

    Without a study file and without --trace, the built-in workload is replayed. `milepost
    policies` and `milepost profiles` list what the flags take.
    """

    study: Annotated[
        Path | None,
        typer.Argument(metavar="[STUDY.toml]", help="A study of one cell; default: built-in."),
    ] = None
    out: Annotated[Path | None, typer.Option(help="Folder for records and summary.")] = None
    check: Annotated[bool, typer.Option("--check", help="Recount the cache each request.")] = False

    def run(self) -> None:
        """Replay the workload, and print the result."""
        from reports.pages.run import run_report
        from reports.report.showing import show

        with self.settings.naming():
            replay = Replay.of(single_cell(self.settings), self.out)
        for note in replay.notes:
            say(f"note: {note}")
        if self.dry_run:
            _print_plan(replay, self.json)
            return
        result = replay.simulate(check=self.check, quiet=self.silent)
        replay = replay.settled(result)
        summary = replay.summary(result)
        if replay.tick is not None:
            warn_of_tick(replay.tick, replay.cell.study, summary)
        if self.out is not None:
            replay.write(result, summary, self.out)
        _warn_of_overload(summary)
        report = run_report(summary, replay.cell.study, typed_again("milepost run"))
        show(report, as_json=self.json)


def _warn_of_overload(summary: dict[str, Any]) -> None:
    from reports.results.overload import overload_words

    words = overload_words(summary["server"] or {})
    if words is not None:
        say(f"warning: {words}")


def single_cell(settings: Settings) -> Cell:
    """Return the first replication of a study whose grid has a single cell.

    Raises
    ------
    UsageError
        When the grid has several.
    """
    from reports.study.cells import cell_of
    from reports.study.grid import grid_of

    (first, *others) = grid_of(settings).variants
    if others:
        varied = ", ".join(first.choice)
        raise UsageError(
            f"the study has {1 + len(others)} cells and `run` takes one: use `milepost sweep`, or "
            f"set what the grid varies ({varied})"
        )
    evidence = first.study.study.model_copy(update={"replications": 1})
    model = first.study.model.model_copy(update={"draws": False})
    study = first.study.model_copy(update={"study": evidence, "model": model})
    return cell_of(study, first.choice, 0, evidence.seed)


@dataclass(frozen=True, slots=True)
class Replay:
    """A workload with its times, ready to be replayed."""

    cell: Cell
    trace: Trace
    notes: list[str]
    tick: Tick | None

    @classmethod
    def of(cls, cell: Cell, out: Path | None) -> Replay:
        """Load the workload, and first refuse an output folder that cannot be used."""
        from reports.artifacts.records_folder import FILES
        from reports.execution.tick import Tick
        from reports.files import refuse_foreign
        from reports.study.capacities import small_note
        from reports.study.clock import waits_by_the_clock
        from reports.study.traces import load_trace, rate_note, with_times

        if out is not None:
            refuse_foreign(out, FILES, "the folder of a run")
        trace = load_trace(cell.study, cell.seed)
        small = small_note(cell.study)
        notes = [
            *trace.notes,
            *([] if small is None else [small]),
            *rate_note(cell.study, has_arrivals=trace.arrival_seconds is not None),
        ]
        tick = Tick.of(trace, cell) if waits_by_the_clock(cell.study) else None
        return cls(cell, with_times(trace, cell.study, cell.seed), notes, tick)

    def simulate(self, *, check: bool, quiet: bool) -> Result:
        """Simulate the scenario on the workload."""
        from reports.study.scenario import build_scenario
        from simulator.simulation import simulate

        scenario = build_scenario(self.cell.study, check=check)
        with Progress(quiet=quiet, what="requests") as progress:
            total = len(self.trace)
            return simulate(self.trace, scenario, lambda done: progress(done, total))

    def settled(self, result: Result) -> Replay:
        """Return the replay with the warm-up that MSER-5 finds, where the study asks for it.

        MSER-5 chooses the warm-up that minimizes the standard error of what is left.
        """
        from reports.execution.warmup import settled_at, share_of, with_share
        from reports.study.sections import AUTO

        study = self.cell.study
        if study.study.warmup != AUTO:
            return self
        share = share_of(settled_at(result), len(self.trace))
        return replace(self, cell=replace(self.cell, study=with_share(study, share)))

    def summary(self, result: Result) -> dict[str, Any]:
        """Return the figures of a result, with the scenario that they belong to."""
        from reports.results.marks import marks_of
        from reports.results.pools import pools_of

        study = self.cell.study.study
        figures = result.summary(study.warmup_share, study.percentile_names)
        return {
            **figures,
            "pools": pools_of(result.counters.pools, figures["lost_tokens"]),
            "bound_saved_tokens": self.bound(),
            "positions": self.positions(result),
            "marks": list(marks_of(self.cell.study.policy.model_dump())),
            "scenario": self.cell.study.resolved(),
            "trace": self.plan()["trace"],
        }

    def bound(self) -> int | None:
        """Return the most that any policy could have saved; None where that is not known."""
        from reports.results.bound import bound_saved_tokens
        from reports.study.scenario import build_scenario

        study = self.cell.study
        return bound_saved_tokens(self.trace, build_scenario(study), study.study.warmup_share)

    def positions(self, result: Result) -> dict[str, Any]:
        """Return the positions of the states that were stored."""
        from reports.results.positions import positions_of
        from reports.study.scenario import build_scenario

        study = self.cell.study
        scenario, share = build_scenario(study), study.study.warmup_share
        return positions_of(study.policy.placer, self.trace, scenario, result, share)

    def plan(self) -> dict[str, Any]:
        """Return what will be replayed."""
        trace = {
            "name": self.trace.name,
            "requests": len(self.trace),
            "prompt_tokens": int(self.trace.prompt_tokens.sum()),
            "granularity": self.trace.granularity,
            "notes": self.notes,
        }
        return {"cells": 1, "scenario": self.cell.study.resolved(), "trace": trace}

    def write(self, result: Result, summary: dict[str, Any], out: Path) -> None:
        """Write records, summary and resolved study."""
        from reports.artifacts.records_folder import write_records

        write_records(out, self.cell.study, self.trace, result, summary)


def warn_of_tick(tick: Tick, study: ResolvedStudy, summary: dict[str, Any]) -> None:
    """Warn that a coarse clock biases times to first token, on stderr and in the summary."""
    effect = tick.effect(study, summary["ttft_seconds"]["mean"])
    summary["clock"] = effect
    summary["trace"]["notes"].append(effect["warning"])
    say(f"warning: {effect['warning']}")


def _print_plan(replay: Replay, as_json: bool) -> None:
    from policies.joint import names_of
    from reports.results.marks import POLICIES

    plan = replay.plan()
    if as_json:
        print_json(plan)
        return
    trace = plan["trace"]
    policies = ", ".join(names_of(replay.cell.study.policy.model_dump(), POLICIES))
    print_line(
        f"1 cell: {trace['requests']:,} requests of {trace['name']} ({trace['prompt_tokens']:,} "
        f"prompt tokens), {policies}"
    )
