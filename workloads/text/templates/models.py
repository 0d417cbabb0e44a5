"""Templates by the models that are served with them."""

from __future__ import annotations

import re

from workloads.text.templates import DEFAULT

# The first that is found in the name of the model. The small Qwen3.5 think only where they are
# asked to: their model cards say so, and their templates have it the other way round.
_FAMILIES = (
    (r"qwen3\.5-(0\.8b|2b)\b", "qwen3.5:thinking=false"),
    (r"qwen3\.6", "qwen3.6"),
    (r"qwen3\.5", "qwen3.5"),
    (r"qwen3", "qwen3"),
    (r"llama-?3", "llama3"),
)


def template_of_model(model: str) -> str:
    """Return the name of the template of a model, that of ChatML where none is known."""
    name = model.lower().replace("_", "-")
    return next((template for pattern, template in _FAMILIES if re.search(pattern, name)), DEFAULT)
