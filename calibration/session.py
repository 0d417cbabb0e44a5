"""One calibration run, from the exactness check to the cost profile."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import torch

from calibration import exactness, preflight
from calibration.assemble import assemble
from calibration.clock import clock_for
from calibration.estimate import TimeEstimate
from calibration.harness import Bench, free_cached, measure_all
from calibration.journal import MeasurementJournal
from calibration.measured import Measured
from calibration.models.hybrid import HybridModel, dtype_name
from calibration.paced_run import BudgetError, out_of_memory
from calibration.plan import blocks_of, grid_for
from calibration.precision import dtype_for, precision_of
from calibration.preflight import Machine
from calibration.provenance import model_warnings, provenance
from calibration.settings import Options
from calibration.subject import Subject, build_for_gate, build_subject, fitting
from simulator.base.errors import DataError, UsageError
from simulator.base.files import write_text
from simulator.costs.profile import Profile, profile_to_json

FIT_SECONDS = 5.0
GATE, CEILINGS, CLOCKS, CREATED = "gate", "ceilings", "clocks", "created"


@dataclass(frozen=True, slots=True)
class CalibrationSession:
    """A calibration in progress.

    Parameters
    ----------
    options, subject, machine
        What is calibrated, and on which device.
    dtype
        Number format of the weights.
    started
        Start time in seconds of the monotonic clock.
    """

    options: Options
    subject: Subject
    machine: Machine
    dtype: torch.dtype
    started: float

    @classmethod
    def opened(
        cls, options: Options, subject: Subject, machine: Machine, started: float
    ) -> CalibrationSession:
        """Create a session for a model, or for one layer group if the model exceeds memory."""
        dtype = getattr(torch, dtype_for(options.dtype, machine.kind))
        if machine.kind == "cpu":
            torch.set_num_threads(1)  # CPU time includes waiting threads
        chosen = fitting(subject, machine.free, dtype.itemsize)
        return cls(options, chosen, machine, dtype, started)

    def run(self) -> Profile:
        """Measure, fit, write the profile and return it."""
        if self.options.fresh:
            self.options.journal.unlink(missing_ok=True)
        journal = MeasurementJournal(self.options.journal, self._head())
        try:
            with precision_of(dtype_name(self.dtype)):
                profile = self._profile(journal)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            raise UsageError(
                f"model '{self.subject.name}' does not fit the memory of {self.machine.name}, of "
                f"which {self.machine.free / 1e9:.1f} GB were free; --group builds one layer group"
            ) from None
        except BudgetError as error:
            raise self._too_short(error.missing_seconds) from None
        finally:
            journal.close()
        write_text(self.options.out, profile_to_json(profile))
        return profile

    def _profile(self, journal: MeasurementJournal) -> Profile:
        """Check exactness, measure, and build the profile."""
        if CREATED not in journal.facts:
            journal.add_fact(CREATED, datetime.now(UTC).date().isoformat())
        finding = self._gate(journal)
        ceilings = self._ceilings(journal)
        seed, device = self.options.seed, self.options.device
        model = build_subject(self.subject, device, self.dtype, seed)
        machine = replace(self.machine, clocks=journal.facts.get(CLOCKS))
        parts = provenance(self.subject, machine, model, ceilings)
        parts |= {"created": journal.facts[CREATED], "seed": seed, "exactness": finding}
        return assemble(self._measured(model, journal), parts, seed)

    def _measured(self, model: HybridModel, journal: MeasurementJournal) -> Measured:
        """Measure all parts of the plan that fit into the budget."""
        options, plan = self.options, self.subject.plan
        grid, clock = grid_for(options.device, self.subject.most_tokens), clock_for(options.device)
        blocks = blocks_of(grid, plan.geometry.state_bytes, options.seed)
        bench = Bench(
            model,
            clock,
            warm_ups=grid.warm_ups,
            seed=options.seed,
            folder=options.out.absolute().parent,
        )
        short = measure_all(
            blocks,
            bench,
            journal,
            TimeEstimate(plan.built, self.machine.kind, grid.warm_ups),
            budget_seconds=self._left_seconds(),
            seed=options.seed,
        )
        warnings = (*model_warnings(self.subject, self.machine.kind), *short)
        return Measured(journal, blocks, clock.typical, self.machine.kind, plan.groups, warnings)

    def _left_seconds(self) -> float | None:
        """Return the budget less the time already spent on setup, None if unlimited."""
        budget = self.options.budget_seconds
        if budget is None:
            return None
        return budget - (time.monotonic() - self.started) - FIT_SECONDS

    def _too_short(self, missing_seconds: float) -> UsageError:
        """Return the error for a budget that does not suffice for a profile."""
        budget = self.options.budget_seconds or 0.0
        enough = 10 * math.ceil(1.2 * (budget + missing_seconds) / 10)
        return UsageError(
            f"--budget: {budget:g} s are too few for a profile: at the speed so far its fewest "
            f"points take about {missing_seconds:.0f} s more; what was measured is kept in "
            f"{self.options.journal}, and the same command with --budget {enough}s goes on from it"
        )

    def _gate(self, journal: MeasurementJournal) -> dict[str, float]:
        """Return the results of the exactness check, from the journal or by running it.

        Raises
        ------
        DataError
            If the model fails.
        """
        if GATE not in journal.facts:
            print("exactness gate", file=sys.stderr, flush=True)
            journal.add_fact(GATE, self._examined())
        gate = journal.facts[GATE]
        finding = exactness.ExactnessFinding(**gate["finding"])
        if not finding.passed:
            raise DataError(self.subject.name, exactness.failure(finding))
        kernels = gate.get("kernels") and exactness.ExactnessFinding(**gate["kernels"])
        if kernels and (wrong := exactness.kernel_failure(kernels)):
            raise DataError(self.subject.name, wrong)
        return {
            "fp32_max_abs": finding.error,
            "bug_max_abs": finding.bug,
            "bf16_argmax_agreement": gate["bf16_argmax_agreement"],
            **({"kernels_max_abs": kernels.error} if kernels else {}),
        }

    def _examined(self) -> dict[str, Any]:
        """Run the exactness check and return its results for the journal."""
        device, seed = self.options.device, self.options.seed
        exact = build_for_gate(self.subject, device, torch.float32, seed)
        finding, kernels = exactness.examine(exact), exactness.examine_kernels(exact)
        rounded = build_for_gate(self.subject, device, torch.bfloat16, seed)
        agreement = exactness.argmax_agreement(rounded)
        del exact, rounded
        free_cached()
        return {
            "finding": asdict(finding),
            "kernels": kernels and asdict(kernels),
            "bf16_argmax_agreement": agreement,
        }

    def _ceilings(self, journal: MeasurementJournal) -> dict[str, float]:
        """Measure peak rates, and read clock rates while the device is still warm."""
        if CEILINGS not in journal.facts:
            journal.add_fact(CEILINGS, preflight.ceilings(self.options.device))
            journal.add_fact(CLOCKS, preflight.clocks(self.options.device))
        ceilings: dict[str, float] = journal.facts[CEILINGS]
        return ceilings

    def _head(self) -> dict[str, Any]:
        """Return the settings that all measurements in one journal must share."""
        return {
            "model": self.subject.name,
            "scale": self.subject.plan.scale,
            "device": self.machine.name,
            "dtype": dtype_name(self.dtype),
            "seed": self.options.seed,
            **preflight.software(self.machine.kind),
        }
