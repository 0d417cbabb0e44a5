"""Slow decays of recurrent states, as in trained models.

With random weights, states are forgotten within a few tokens, so that a wrong state would go
unnoticed; trained models remember thousands of tokens. The parameter `A_log`, which determines the
decay of a recurrent layer, is set to the logarithm of rates between 1e-4 and 0.05 per token.
"""

from __future__ import annotations

import math

import torch

SLOWEST, FASTEST = 1e-4, 0.05


def lengthen_memory(model: torch.nn.Module) -> int:
    """Set the decays of all recurrent layers in place; return the number of parameters set."""
    count = 0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.rpartition(".")[2] == "A_log":
                parameter.copy_(_rates(parameter))
                count += 1
    return count


def _rates(parameter: torch.Tensor) -> torch.Tensor:
    """Return logarithms of decay rates, evenly spaced over the heads."""
    low, high = math.log(SLOWEST), math.log(FASTEST)
    spread = torch.linspace(low, high, parameter.shape[0], dtype=torch.float32)
    shape = (-1, *(1 for _ in parameter.shape[1:]))
    return spread.reshape(shape).expand(parameter.shape).to(parameter)
