"""Long memory: decays as trained models have them.

Random weights forget within a few tokens, so that a wrong state would go unnoticed. Trained ones
remember thousands: `A_log`, which the decay of every recurrent layer here is made from, is set to
the logarithm of rates between 1e-4 and 0.05 a step.
"""

from __future__ import annotations

import math

import torch

SLOWEST, FASTEST = 1e-4, 0.05


def lengthen_memory(model: torch.nn.Module) -> int:
    """Set the decays of all recurrent layers in place; return how many parameters were set."""
    count = 0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.rpartition(".")[2] == "A_log":
                parameter.copy_(_rates(parameter))
                count += 1
    return count


def _rates(parameter: torch.Tensor) -> torch.Tensor:
    """Return logarithms of rates, evenly spread over the heads."""
    low, high = math.log(SLOWEST), math.log(FASTEST)
    spread = torch.linspace(low, high, parameter.shape[0], dtype=torch.float32)
    shape = (-1, *(1 for _ in parameter.shape[1:]))
    return spread.reshape(shape).expand(parameter.shape).to(parameter)
