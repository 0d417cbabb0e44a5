"""Losses of tokens by cause: README's example, on Mooncake's conversation trace."""

from __future__ import annotations

import json

from studies.figures.parts import Figures, Part, Workplace

TRACE = "mooncake/conversation_trace.jsonl.gz"


def _losses(place: Workplace) -> Figures:
    words = ("run", "--trace", place.trace(TRACE), "--capacity", "256 GiB", "--json")
    summary = json.loads(place.milepost(*words))
    kept = ("saved_tokens", "prompt_tokens", "lost_tokens")
    return {name: summary[name] for name in kept}


PARTS = (Part("losses", "losses", 0.2, _losses, (TRACE,)),)
