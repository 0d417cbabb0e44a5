"""Chat templates by the names of models."""

from __future__ import annotations

import re

from workloads.text.templates import DEFAULT

# The first pattern found in the name of the model counts. The small Qwen3.5 think only if
# asked to: their model cards say so, but the default of their templates is the opposite.
_FAMILIES = (
    (r"qwen3\.5-(0\.8b|2b)\b", "qwen3.5:thinking=false"),
    (r"qwen3\.6", "qwen3.6"),
    (r"qwen3\.5", "qwen3.5"),
    (r"qwen3", "qwen3"),
    (r"llama-?3", "llama3"),
)


def template_of_model(model: str) -> str:
    """Return the name of a model's template, that of ChatML for an unknown model."""
    name = model.lower().replace("_", "-")
    return next((template for pattern, template in _FAMILIES if re.search(pattern, name)), DEFAULT)
