"""Where a prototype runs: a model, built, and the clock of its device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from calibration import preflight
from calibration.clock import CallClock, clock_for
from calibration.models.hybrid import HybridModel, dtype_name
from calibration.paced_run import out_of_memory
from calibration.precision import dtype_for, precision_of
from calibration.preflight import Machine
from calibration.prototype.steady import REFERENCE_TOKENS, SteadyClock
from calibration.provenance import slug
from calibration.subject import Subject, build_subject, find_subject
from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile


@dataclass(frozen=True, slots=True)
class Site:
    """A model on a machine."""

    subject: Subject
    machine: Machine
    model: HybridModel

    @property
    def scale(self) -> str:
        """Whether all of the model was built."""
        return "whole" if self.subject.plan.groups == 1 else "one layer group"

    @property
    def dtype(self) -> str:
        """Precision of the weights."""
        return dtype_name(self.model.dtype)

    def unit_seconds(self, profile: Profile | None) -> float | None:
        """Return what a profile says of the reference pass, if it is of this model and machine.

        A machine that is busier than it was then is no error of what the profile says.
        """
        if profile is None:
            return None
        theirs = profile.hardware.name, profile.model.name, profile.model.dtype, profile.model.scale
        plan = self.subject.plan
        if theirs != (self.machine.name, slug(self.subject.name), self.dtype, plan.scale):
            return None
        return CostModel(profile).prefill_seconds(0, REFERENCE_TOKENS) / plan.groups

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run the model: in its precision, and memory that runs out is said in one line."""
        with memory_told(self.subject.name), precision_of(self.dtype):
            yield

    def clock(self, profile: Profile | None = None, unit_seconds: float | None = None) -> CallClock:
        """Return the clock: a layer group counts as often as a profile says that it did there.

        On a CPU it is a `SteadyClock`: of the unit that is given, or of `unit_seconds`.
        """
        clock = clock_for(self.machine.device)
        if self.machine.kind == "cpu":
            clock = SteadyClock(clock, self.model, unit_seconds or self.unit_seconds(profile))
        groups = self.subject.plan.groups
        if groups > 1 and profile is not None and profile.model.scale == self.subject.plan.scale:
            return TimesClock(clock, groups)
        return clock


class TimesClock:
    """A clock that counts every second several times."""

    def __init__(self, clock: CallClock, times: int) -> None:
        self.typical = clock.typical
        self.slowdown = getattr(clock, "slowdown", 1.0)
        self._clock = clock
        self._times = times

    def seconds(self, action: Callable[[], object]) -> float:
        """Return the seconds of `action`, times their number."""
        return self._times * self._clock.seconds(action)


def open_site(
    model: str, *, group: bool, device: str, dtype: str | None = None, seed: int = 0
) -> Site:
    """Build a model.

    Parameters
    ----------
    model
        A name, or a Hugging Face folder.
    group
        Build one layer group of it.
    device
        "cpu", "cuda" or "cuda:0".
    dtype
        One of `precision.DTYPES`; None takes float32 on a CPU and bfloat16 on a GPU.
    seed
        Of random weights.

    Raises
    ------
    UsageError, DataError
        If a library, the device or the model is missing, or it does not fit the memory.
    """
    preflight.check_libraries()
    machine = preflight.examine(device)
    precision = getattr(torch, dtype_for(dtype, machine.kind))
    if machine.kind == "cpu":
        torch.set_num_threads(1)  # processor time counts every thread, waiting ones too
    subject = find_subject(model, group=group)
    if subject.folder is None and subject.weight_bytes(precision.itemsize) > machine.free:
        raise UsageError(
            f"model '{subject.name}' needs {subject.weight_bytes(precision.itemsize) / 1e9:.1f} GB "
            f"for its weights, and {machine.free / 1e9:.1f} GB are free: one layer group is smaller"
        )
    with memory_told(subject.name):
        return Site(subject, machine, build_subject(subject, device, precision, seed))


@contextmanager
def memory_told(what: str) -> Iterator[None]:
    """Say in one line that memory has run out for `what`.

    Raises
    ------
    UsageError
        If it has.
    """
    try:
        yield
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise UsageError(
            f"{what}: out of memory; shorter prompts, a smaller capacity or one layer group "
            "(--group) need less"
        ) from None
