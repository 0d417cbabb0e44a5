"""The gate: a model resumed from a snapshot must be the same as one that never stopped.

It is proved on every model that is measured, in fp32 and with long memory. A prefill of [0, c),
a snapshot, and the rest [c, d) must give the logits of the whole prefill, also when the snapshot is
restored under KV that reaches further. And the check itself is checked: two classic mistakes must
be seen, by a factor of a hundred or more over the error.

- The state is set back to c and KV is left at d: the tokens behind c meet their own KV twice.
- No replay: the prefill goes on at d, where KV ends, from the state of c.

Exact does not mean the same bits: cutting a prefill moves rounding. bf16 is reported only, since
its rounding hides such mistakes. The gate runs in torch alone: kernels may round to TF32 inside.
With them a mistake must still stand out, by a factor of ten.
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
RESUME, DEEPER, END = 77, 150, 200  # tokens: no multiple of a chunk among them
SEED = 7


@dataclass(frozen=True, slots=True)
class ExactnessFinding:
    """Largest absolute differences of logits from those of the whole prefill, in fp32.

    Where the largest logit is above one they are shares of it: rounding grows with what is rounded,
    and wide models have large logits.

    Parameters
    ----------
    continued
        After a snapshot was taken.
    restored
        After it was restored under denser KV.
    kv_left, no_replay
        With either mistake.
    """

    continued: float
    restored: float
    kv_left: float
    no_replay: float

    @property
    def error(self) -> float:
        """The larger of the two errors."""
        return max(self.continued, self.restored)

    @property
    def bug(self) -> float:
        """The smaller of the two mistakes."""
        return min(self.kv_left, self.no_replay)

    @property
    def exact(self) -> bool:
        """Whether a resumed model is the same."""
        return self.error <= TOLERANCE

    @property
    def conclusive(self) -> bool:
        """Whether a mistake would have been seen."""
        return self.bug >= BUG_FACTOR * self.error

    @property
    def passed(self) -> bool:
        """Whether the model may be measured."""
        return self.exact and self.conclusive


def examine(model: HybridModel) -> ExactnessFinding:
    """Run the gate on a model, which should be in fp32 and have a long memory; in torch alone."""
    with full_precision(), without_kernels(model.module):
        return _examined(model)


def examine_kernels(model: HybridModel) -> ExactnessFinding | None:
    """Return the same with the kernels that the model has bound; None where it has none."""
    if not bound_kernels(model.module):
        return None
    with full_precision():
        return _examined(model)


def _examined(model: HybridModel) -> ExactnessFinding:
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
    """Return what is wrong with kernels, None where a mistake stands out from their rounding."""
    if finding.bug >= KERNEL_BUG_FACTOR * finding.error:
        return None
    return (
        f"fails the exactness gate with the kernels that are bound: resumed from a snapshot, its "
        f"logits are off by {finding.error:.1e}, and a wrong state changes them by "
        f"{finding.bug:.1e}; expected a factor of {KERNEL_BUG_FACTOR:g}; no profile is written"
    )


def failure(finding: ExactnessFinding) -> str:
    """Return what is wrong with a model that has not passed."""
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
    """Return the share of positions whose likeliest token is the same when resumed."""
    tokens = model.random_tokens(END, seed=SEED)
    whole = model.forward(model.new_cache(END), tokens, every_logit=True)
    cache = model.new_cache(END)
    model.forward(cache, tokens[:, :RESUME])
    resumed = model.forward(cache, tokens[:, RESUME:], every_logit=True)
    same = resumed.argmax(-1) == whole[:, RESUME:].argmax(-1)
    return float(same.float().mean())


def _difference(model: HybridModel, cache: ModelCache, rest: Tensor, whole: Tensor) -> float:
    """Run the last tokens; return how far their logits are from those of the whole prefill."""
    resumed = model.forward(cache, rest, every_logit=True)
    difference = (resumed - whole[:, -rest.shape[1] :]).abs().max()
    share = difference / whole.abs().max().clamp(min=1)
    return float(torch.nan_to_num(share, nan=torch.inf))
