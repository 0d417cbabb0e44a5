"""One run of a calibration, from the gate to the profile."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import torch

from calibration import exactness, preflight
from calibration.assemble import Measured, assemble
from calibration.calibrate import Options, grid_for, tell
from calibration.clock import clock_for
from calibration.estimate import Estimate
from calibration.harness import Bench, measure_all, out_of_memory
from calibration.journal import Journal
from calibration.models.hybrid import HybridModel
from calibration.models.states import CacheSizes
from calibration.parts import model_parts
from calibration.plan import blocks_of
from calibration.preflight import Machine
from calibration.subject import (
    Subject,
    build_for_gate,
    build_subject,
    config_sha256,
    fitting,
)
from simulator.errors import DataError, UsageError
from simulator.files import write_text
from simulator.profile import Profile, profile_to_json

FIT_SECONDS = 5.0
GATE, CEILINGS, CREATED = "gate", "ceilings", "created"


@dataclass(frozen=True, slots=True)
class Session:
    """A calibration that is under way.

    Parameters
    ----------
    options, subject, machine
        What, and where.
    dtype
        Of the weights.
    started
        When, in seconds of the monotonic clock.
    """

    options: Options
    subject: Subject
    machine: Machine
    dtype: torch.dtype
    started: float

    @classmethod
    def opened(cls, options: Options, subject: Subject, machine: Machine) -> Session:
        """Return a session for a subject, or one layer group of it if it is too big."""
        dtype = torch.bfloat16 if machine.kind == "cuda" else torch.float32
        if machine.kind == "cpu":
            torch.set_num_threads(1)  # processor time counts every thread, waiting ones too
        chosen = fitting(subject, machine.free, dtype.itemsize)
        return cls(options, chosen, machine, dtype, time.monotonic())

    def run(self) -> Profile:
        """Measure, fit and write the profile; return it."""
        if self.options.fresh:
            self.options.journal.unlink(missing_ok=True)
        journal = Journal(self.options.journal, self._head())
        try:
            return self._measured(journal)
        finally:
            journal.close()

    def _measured(self, journal: Journal) -> Profile:
        if CREATED not in journal.facts:
            journal.add_fact(CREATED, datetime.now(UTC).date().isoformat())
        finding = self._gate(journal)
        ceilings = self._ceilings(journal)
        model = self._built()
        sizes, parameters = _sizes(model), _parameters(model)
        grid = grid_for(self.options, self.subject)
        blocks = blocks_of(grid, self.subject.plan.geometry.state_bytes, self.options.seed)
        bench = Bench(
            model,
            clock := clock_for(self.options.device),
            warm_ups=grid.warm_ups,
            seed=self.options.seed,
            folder=self.options.out.absolute().parent,
        )
        short = measure_all(
            blocks,
            bench,
            journal,
            Estimate(self.subject.plan.built, self.machine.kind, grid.warm_ups),
            budget_seconds=self._left_seconds(),
            seed=self.options.seed,
        )
        measured = Measured(
            journal,
            blocks,
            clock.typical,
            self.machine.kind,
            self.subject.plan.groups,
            (*self._warnings(), *short),
        )
        parts = self._parts(journal, sizes, parameters, config_sha256(model.config))
        parts |= {"exactness": finding}
        parts["hardware"]["ceilings"] = ceilings
        profile = assemble(measured, parts, self.options.seed)
        write_text(self.options.out, profile_to_json(profile))
        return profile

    def _left_seconds(self) -> float | None:
        """Return the budget without what this run has spent on other things than measuring."""
        budget = self.options.budget_seconds
        if budget is None:
            return None
        return budget - (time.monotonic() - self.started) - FIT_SECONDS

    def _built(self) -> HybridModel:
        try:
            return build_subject(self.subject, self.options.device, self.dtype, self.options.seed)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            raise UsageError(
                f"model '{self.subject.name}' does not fit the memory; --group builds one layer "
                "group of it"
            ) from None

    def _gate(self, journal: Journal) -> dict[str, float]:
        """Run the exactness gate, or take what the journal has of it; refuse what fails."""
        if GATE not in journal.facts:
            tell("exactness gate")
            journal.add_fact(GATE, self._examined())
        found = journal.facts[GATE]
        finding = exactness.Finding(**found["finding"])
        if not finding.passed:
            raise DataError(self.subject.name, _failure(finding))
        return {
            "fp32_max_abs": finding.error,
            "bug_max_abs": finding.bug,
            "bf16_argmax_agreement": found["bf16_argmax_agreement"],
        }

    def _examined(self) -> dict[str, Any]:
        device, seed = self.options.device, self.options.seed
        finding = exactness.examine(build_for_gate(self.subject, device, torch.float32, seed))
        rounded = build_for_gate(self.subject, device, torch.bfloat16, seed)
        return {
            "finding": asdict(finding),
            "bf16_argmax_agreement": exactness.argmax_agreement(rounded),
        }

    def _ceilings(self, journal: Journal) -> dict[str, float]:
        if CEILINGS not in journal.facts:
            journal.add_fact(CEILINGS, preflight.ceilings(self.options.device))
        found: dict[str, float] = journal.facts[CEILINGS]
        return found

    def _head(self) -> dict[str, Any]:
        """Return what measurements must share to stand in one journal."""
        return {
            "model": self.subject.name,
            "scale": self.subject.plan.scale,
            "device": self.machine.name,
            "dtype": _name(self.dtype),
            "seed": self.options.seed,
            **preflight.software(),
        }

    def _warnings(self) -> list[str]:
        said = []
        if not preflight.has_fast_kernels():
            said.append(
                "the recurrence ran on the torch fallback, which is several times slower on a GPU "
                "than fla-core"
            )
        if self.subject.plan.groups > 1:
            said.append(
                f"one layer group was timed and counted {self.subject.plan.groups} times; "
                "embeddings and output head are left out"
            )
        if self.subject.folder is None and not self.subject.toy:
            said.append("random weights, which cost what trained ones do")
        return said

    def _parts(
        self, journal: Journal, sizes: CacheSizes, parameters: int, config: str
    ) -> dict[str, Any]:
        """Return the fields of the profile that no timing sets."""
        plan, machine = self.subject.plan, self.machine
        groups = plan.groups
        device = "cpu" if machine.kind == "cpu" else _slug(machine.name)
        return {
            "profile_id": f"{_slug(self.subject.name)}-{device}",
            "kind": "toy" if self.subject.toy else "measured",
            "source": f"timed by milepost calibrate: {_how(machine.kind)}",
            "licence": "Apache-2.0",
            "created": journal.facts[CREATED],
            "seed": self.options.seed,
            "hardware": {
                "name": machine.name,
                "memory": machine.memory,
                **({"driver": machine.driver} if machine.driver else {}),
                **({"clocks": machine.clocks} if machine.clocks else {}),
            },
            "software": preflight.software(),
            "model": {
                "name": _slug(self.subject.name),
                "config_sha256": config,
                "layer_types": {
                    "recurrent": sizes.recurrent_layers * groups,
                    "attention": sizes.attention_layers * groups,
                },
                **self._dimensions(),
                "parameters": parameters * groups,
                "weights": "random" if self.subject.folder is None else "real",
                "scale": plan.scale,
            },
            "state": {
                "ssm_bytes": sizes.ssm_bytes * groups,
                "conv_bytes": sizes.conv_bytes * groups,
                "bytes_per_checkpoint": (sizes.ssm_bytes + sizes.conv_bytes) * groups,
                "alignment": 1,
                "dtypes": {"ssm": sizes.ssm_dtype, "conv": sizes.conv_dtype},
            },
            "kv": {
                "bytes_per_token": sizes.kv_bytes_per_token * groups,
                "dtype": sizes.kv_dtype,
            },
            "notes": {"held_bytes": sizes.held_bytes * groups},
        }

    def _dimensions(self) -> dict[str, Any]:
        if self.subject.folder is not None:
            return {}
        return {"dimensions": model_parts(self.subject.plan.geometry)["model"]["dimensions"]}


def _failure(finding: exactness.Finding) -> str:
    if not finding.exact:
        return (
            f"fails the exactness gate: resumed from a snapshot, its logits are off by "
            f"{finding.error:.1e} in fp32, expected at most {exactness.TOLERANCE:.0e}; "
            "no profile is written"
        )
    return (
        "fails the exactness gate, which shows nothing: a wrong state changes its logits by "
        f"{finding.bug:.1e}, its error is {finding.error:.1e}; expected a factor of "
        f"{exactness.BUG_FACTOR:g}"
    )


def _sizes(model: HybridModel) -> CacheSizes:
    cache = model.new_cache(64)
    model.forward(cache, model.random_tokens(8, seed=0))
    return cache.sizes()


def _parameters(model: HybridModel) -> int:
    """Count the parameters of all layers, embeddings and output head excluded."""
    outside = {
        id(parameter)
        for part in (model.module.get_input_embeddings(), model.module.get_output_embeddings())
        if part is not None
        for parameter in part.parameters()
    }
    return sum(p.numel() for p in model.module.parameters() if id(p) not in outside)


def _how(kind: str) -> str:
    if kind == "cuda":
        return "CUDA events, medians"
    return "processor time of one thread, minima"


def _slug(name: str) -> str:
    """Return a name of the letters that a profile's name may have."""
    kept = "".join(c if c.isalnum() or c in ".-_" else "-" for c in name.lower())
    return kept.strip("-")[:80] or "local"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).rpartition(".")[2]
