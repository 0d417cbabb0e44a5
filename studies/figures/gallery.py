"""Figures of README's gallery, and of the headers of its studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studies.figures.drifting import drift_figures
from studies.figures.parts import Figures, Part, Workplace
from studies.figures.sweeps import sweep_figures

GROUP = "gallery"
CAPACITY = ("capacity", "studies/capacity.toml", "--target", "p90_ttft<=200ms")
ENGINE = ("sweep", "studies/engine.toml")
WHAT_IF = {
    "pages": "model.alignment=528",
    "nodes": "cache.cut=span",
    "fewer": "model.profile=qwen3.5-9b-h200:kv=fp8,state=bfloat16",
}


def capacity_figures(folder: Path) -> Figures:
    """Return the answer for each combination of policies, the best, and their sensitivity."""
    report = json.loads((folder / "capacity.json").read_bytes())
    answers, moved = report["answers"], report["sensitivity"] or []
    return {
        "answers": {each["name"]: _answer(each) for each in answers},
        "best": min(answers, key=_capacity)["name"],
        "moved": {each["name"]: each["answer"] and _answer(each["answer"]) for each in moved},
    }


def _capacity(answer: dict[str, Any]) -> float:
    return float(answer["capacity_bytes"] or "inf")


def _answer(answer: dict[str, Any]) -> Figures:
    return {name: answer[name] for name in ("capacity_bytes", "low_bytes", "high_bytes")}


def _capacity_study(place: Workplace) -> Figures:
    return capacity_figures(place.study("capacity", *CAPACITY))


def _comparison(place: Workplace) -> Figures:
    return sweep_figures(place.study("comparison", "sweep", "studies/comparison.toml"))


def _drift(place: Workplace) -> Figures:
    return drift_figures(place.study("drift", "drift", "studies/drift.toml"))


def _generated(place: Workplace) -> Figures:
    return sweep_figures(place.study("paper", "sweep", "studies/paper/generated.toml"))


def _engine(place: Workplace) -> Figures:
    """Return the figures of the study, and of the variants in its header."""
    figures = {"plain": sweep_figures(place.study("engine", *ENGINE))} | {
        name: sweep_figures(place.study(name, *ENGINE, "--set", setting))
        for name, setting in WHAT_IF.items()
    }
    return figures | {"nodes_cost_at_most": _most_lost(figures["plain"], figures["nodes"])}


def _most_lost(plain: Figures, other: Figures) -> float:
    """Return the largest loss of token hit rate in the other study, over all points."""
    lost: list[float] = [
        each["rate"] - other["points"][name][capacity]["rate"]
        for name, at in plain["points"].items()
        for capacity, each in at.items()
    ]
    return max(lost)


PARTS = (
    Part("capacity_study", GROUP, 2, _capacity_study),
    Part("comparison", GROUP, 1, _comparison),
    Part("drift_study", GROUP, 1, _drift),
    Part("generated", GROUP, 0.5, _generated),
    Part("engine", GROUP, 3, _engine),
)
