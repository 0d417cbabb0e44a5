"""The environment of a prototype run: a built model, and the clock of its device."""

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
    """A model built on a machine."""

    subject: Subject
    machine: Machine
    model: HybridModel

    @property
    def scale(self) -> str:
        """Part of the model that was built: "whole" or "one layer group"."""
        return "whole" if self.subject.plan.groups == 1 else "one layer group"

    @property
    def dtype(self) -> str:
        """Number format of the weights."""
        return dtype_name(self.model.dtype)

    def unit_seconds(self, profile: Profile | None) -> float | None:
        """Return the profile's time of the reference pass, or None.

        It is None if the profile is of another model or machine. `SteadyClock` rescales measured
        times to it, so that a machine busier than during calibration does not count as an error of
        the profile.
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
        """Run the model in its precision; report running out of memory as a UsageError."""
        with memory_told(self.subject.name), precision_of(self.dtype):
            yield

    def clock(self, profile: Profile | None = None, unit_seconds: float | None = None) -> CallClock:
        """Return the clock that measures service times on the device.

        If one layer group of several was built, and the profile was measured in the same way, times
        are multiplied by the number of groups. On a CPU the clock is a `SteadyClock`, which
        corrects for other load on the machine.

        Parameters
        ----------
        profile
            The cost profile to compare with.
        unit_seconds
            Duration of the reference pass of `SteadyClock` at standard speed; None to take it from
            the profile.
        """
        clock = clock_for(self.machine.device)
        if self.machine.kind == "cpu":
            clock = SteadyClock(clock, self.model, unit_seconds or self.unit_seconds(profile))
        groups = self.subject.plan.groups
        if groups > 1 and profile is not None and profile.model.scale == self.subject.plan.scale:
            return TimesClock(clock, groups)
        return clock


class TimesClock:
    """A clock that multiplies the times of another clock by a constant."""

    def __init__(self, clock: CallClock, times: int) -> None:
        self.typical = clock.typical
        self.slowdown = getattr(clock, "slowdown", 1.0)
        self._clock = clock
        self._times = times

    def seconds(self, action: Callable[[], object]) -> float:
        """Run `action` and return its seconds, multiplied by the constant."""
        return self._times * self._clock.seconds(action)


def open_site(
    model: str, *, group: bool, device: str, dtype: str | None = None, seed: int = 0
) -> Site:
    """Build a model.

    Parameters
    ----------
    model
        A model name, or a Hugging Face folder.
    group
        Build one layer group only.
    device
        "cpu", "cuda" or "cuda:0".
    dtype
        One of `precision.DTYPES`; None for float32 on a CPU and bfloat16 on a GPU.
    seed
        Seed of random weights.

    Raises
    ------
    UsageError, DataError
        If a library, the device or the model is missing, or memory is insufficient.
    """
    preflight.check_libraries()
    machine = preflight.examine(device)
    precision = getattr(torch, dtype_for(dtype, machine.kind))
    if machine.kind == "cpu":
        torch.set_num_threads(1)  # CPU time includes waiting threads
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
    """Convert torch's out-of-memory errors inside the `with` block to a UsageError.

    Parameters
    ----------
    what
        Name of the model, for the message.

    Raises
    ------
    UsageError
        If memory has run out.
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
