"""The exactness check: a model resumed from a snapshot must continue as if uninterrupted.

Every measured model is checked, in fp32 and with slowly decaying states. A prefill of [0, c), a
snapshot, and a prefill of the rest [c, d) must give the logits of an uninterrupted prefill, also if
the snapshot is restored after KV was extended further.

To show that the check is sensitive, two common mistakes are made deliberately. The error of each
must be at least 100 times that of the correct procedure:

- The state is reset to c but KV remains at d: tokens after c see their own KV twice.
- The recomputation is skipped: prefill continues at d, where KV ends, from the state of c.

Exact does not mean bit-identical, since cutting a prefill changes rounding. bf16 results are only
reported, because rounding hides such mistakes. The check runs in plain torch, as optimised kernels
may round to TF32 internally. With kernels, the error of a mistake must be at least 10 times larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibration.models.bound import bound_kernels, without_kernels
from calibration.models.hybrid import HybridModel
from calibration.models.states import ModelCache
from calibration.precision import full_precision

TOLERANCE = 1e-5
BUG_FACTOR = 100.0
KERNEL_BUG_FACTOR = 10.0
RESUME, DEEPER, END = 77, 150, 200  # tokens; none is a multiple of the chunk size
SEED = 7


@dataclass(frozen=True, slots=True)
class ExactnessFinding:
    """Largest absolute differences of logits from an uninterrupted prefill, in fp32.

    They are divided by the largest logit if that exceeds 1, since rounding errors grow with it.

    Parameters
    ----------
    continued
        Continued after a snapshot was taken.
    restored
        Continued after the snapshot was restored under further KV.
    kv_left, no_replay
        With one of the two deliberate mistakes: KV not truncated, recomputation skipped.
    """

    continued: float
    restored: float
    kv_left: float
    no_replay: float

    @property
    def error(self) -> float:
        """The larger of the errors after continuing and after restoring."""
        return max(self.continued, self.restored)

    @property
    def bug(self) -> float:
        """The smaller of the differences caused by the two deliberate mistakes."""
        return min(self.kv_left, self.no_replay)

    @property
    def exact(self) -> bool:
        """Whether a model resumed from a snapshot equals an uninterrupted one within tolerance."""
        return self.error <= TOLERANCE

    @property
    def conclusive(self) -> bool:
        """Whether the check can detect mistakes: they differ 100 times as much as the error."""
        return self.bug >= BUG_FACTOR * self.error

    @property
    def passed(self) -> bool:
        """Whether the model passes the exactness check and may be measured."""
        return self.exact and self.conclusive


def examine(model: HybridModel) -> ExactnessFinding:
    """Run the exactness check in plain torch.

    Parameters
    ----------
    model
        A model in fp32 with slowly decaying states, so that a wrong state has an effect.
    """
    with full_precision(), without_kernels(model.module):
        return _examined(model)


def examine_kernels(model: HybridModel) -> ExactnessFinding | None:
    """Run the exactness check with a model's optimised kernels; return None if it has none."""
    if not bound_kernels(model.module):
        return None
    with full_precision():
        return _examined(model)


def _examined(model: HybridModel) -> ExactnessFinding:
    """Run the exactness check with the implementation that is active."""
    tokens = model.random_tokens(END, seed=SEED)
    whole = model.forward(model.new_cache(END), tokens, every_logit=True)
    cache = model.new_cache(2 * END)
    model.forward(cache, tokens[:, :RESUME])
    snapshot = cache.snapshot()
    continued = _difference(model, cache, tokens[:, RESUME:], whole)
    cache.restore(snapshot)
    restored = _difference(model, cache, tokens[:, RESUME:], whole)
    cache.restore(snapshot)
    cache.move_cursor(DEEPER)
    no_replay = _difference(model, cache, tokens[:, DEEPER:], whole)
    cache.restore(snapshot)
    cache.move_cursor(DEEPER)
    kv_left = _difference(model, cache, tokens[:, RESUME:], whole)
    return ExactnessFinding(continued, restored, kv_left, no_replay)


def kernel_failure(finding: ExactnessFinding) -> str | None:
    """Return why a model fails the exactness check with its optimised kernels, or None."""
    if finding.bug >= KERNEL_BUG_FACTOR * finding.error:
        return None
    return (
        f"fails the exactness gate with the kernels that are bound: resumed from a snapshot, its "
        f"logits are off by {finding.error:.1e}, and a wrong state changes them by "
        f"{finding.bug:.1e}; expected a factor of {KERNEL_BUG_FACTOR:g}; no profile is written"
    )


def failure(finding: ExactnessFinding) -> str:
    """Return why a model has failed the exactness check, as an error message."""
    if not finding.exact:
        return (
            f"fails the exactness gate: resumed from a snapshot, its logits are off by "
            f"{finding.error:.1e} in fp32, expected at most {TOLERANCE:.0e}; no profile is written"
        )
    return (
        "fails the exactness gate, which shows nothing: a wrong state changes its logits by "
        f"{finding.bug:.1e}, its error is {finding.error:.1e}; expected a factor of {BUG_FACTOR:g}"
    )


def argmax_agreement(model: HybridModel) -> float:
    """Return the share of positions whose most likely token is unchanged after resuming."""
    tokens = model.random_tokens(END, seed=SEED)
    whole = model.forward(model.new_cache(END), tokens, every_logit=True)
    cache = model.new_cache(END)
    model.forward(cache, tokens[:, :RESUME])
    resumed = model.forward(cache, tokens[:, RESUME:], every_logit=True)
    same = resumed.argmax(-1) == whole[:, RESUME:].argmax(-1)
    return float(same.float().mean())


def _difference(model: HybridModel, cache: ModelCache, rest: Tensor, whole: Tensor) -> float:
    """Run the last tokens; return the difference of their logits from the uninterrupted prefill."""
    resumed = model.forward(cache, rest, every_logit=True)
    difference = (resumed - whole[:, -rest.shape[1] :]).abs().max()
    share = difference / whole.abs().max().clamp(min=1)
    return float(torch.nan_to_num(share, nan=torch.inf))
