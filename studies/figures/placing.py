"""Losses of plans on requests other than those they were made for, from docs/placement.md."""

from __future__ import annotations

import json

from studies.figures.parts import Figures, Part, Workplace

CONVERSATION = "mooncake/conversation_trace.jsonl.gz"
SYSTEM_PROMPTS = "system_prompts/system_prompts.jsonl.gz"
PLANS = {
    "conversation": (CONVERSATION, "--budget", "40"),
    "system_prompts": (SYSTEM_PROMPTS, "--block", "16", "--budget", "12"),
}


def _hold_out(place: Workplace) -> Figures:
    return {
        name: _kept(place.milepost("place", "--json", "--from-trace", place.trace(trace), *words))
        for name, (trace, *words) in PLANS.items()
    }


def _kept(printed: str) -> Figures:
    hold_out = json.loads(printed)["hold_out"]
    return {name: figure for name, figure in hold_out.items() if not isinstance(figure, list)}


PARTS = (Part("hold_out", "placement", 0.2, _hold_out, (CONVERSATION, SYSTEM_PROMPTS)),)
