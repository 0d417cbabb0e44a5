"""Where a prototype runs: a model, built, and the clock of its device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from calibration import preflight
from calibration.clock import Clock, clock_for
from calibration.harness import out_of_memory
from calibration.models.hybrid import HybridModel
from calibration.preflight import Machine
from calibration.subject import Subject, build_subject, find_subject
from simulator.errors import UsageError, printable
from simulator.profile import Profile

DTYPES = ("float32", "bfloat16")


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
        return str(self.model.dtype).rpartition(".")[2]

    def clock(self, profile: Profile | None = None) -> Clock:
        """Return the clock: a layer group counts as often as a profile says that it did there."""
        clock = clock_for(self.machine.device)
        groups = self.subject.plan.groups
        if groups > 1 and profile is not None and profile.model.scale == self.subject.plan.scale:
            return TimesClock(clock, groups)
        return clock


class TimesClock:
    """A clock that counts every second several times."""

    def __init__(self, clock: Clock, times: int) -> None:
        self.typical = clock.typical
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
        One of `DTYPES`; None takes float32 on a CPU and bfloat16 on a GPU.
    seed
        Of random weights.

    Raises
    ------
    UsageError, DataError
        If a library, the device or the model is missing, or it does not fit the memory.
    """
    preflight.check_libraries()
    machine = preflight.examine(device)
    if dtype is None:
        dtype = "float32" if machine.kind == "cpu" else "bfloat16"
    if dtype not in DTYPES:
        raise UsageError(f"dtype: expected {' or '.join(DTYPES)}, found '{printable(dtype)}'")
    if machine.kind == "cpu":
        torch.set_num_threads(1)  # processor time counts every thread, waiting ones too
    subject, precision = find_subject(model, group=group), getattr(torch, dtype)
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
