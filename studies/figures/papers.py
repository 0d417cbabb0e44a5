"""Figures in headers of studies/paper that need a public trace or drift."""

from __future__ import annotations

from functools import partial

from studies.figures.parts import Figures, Part, Workplace
from studies.figures.sweeps import sweep_figures, worlds_of

GROUP = "paper"
QUALITY = "leval_docqa/leval_quality.jsonl.gz"


def _on_quality(place: Workplace, name: str) -> Figures:
    trace = f"workload.trace={place.trace(QUALITY)}"
    study = f"studies/paper/{name}.toml"
    return sweep_figures(place.study(f"paper_{name}", "sweep", study, "--set", trace))


def _pareto(place: Workplace) -> Figures:
    """Return the figures, and the best rate by capacity except of `adaptive` and the bound."""
    figures = _on_quality(place, "pareto")
    others = [at for name, at in figures["points"].items() if name not in {"adaptive", "dense"}]
    best = {at: max(each[at]["rate"] for each in others) for at in others[0]}
    led = [figures["points"]["adaptive"][at]["rate"] >= rate for at, rate in best.items()]
    return figures | {"best_of_others": best, "led": [sum(led), len(led)]}


def _drifts(place: Workplace) -> Figures:
    """Return token hit rates by drift and placer."""
    folder = place.study("paper_drift", "sweep", "studies/paper/drift.toml")
    return {
        world.name: {
            each.name: world.points[each.name, world.focus].share("saved_tokens")
            for each in world.series
        }
        for world in worlds_of(folder)
    }


PARTS = (
    Part("paper_savings", GROUP, 0.2, partial(_on_quality, name="savings"), (QUALITY,)),
    Part("paper_pareto", GROUP, 0.5, _pareto, (QUALITY,)),
    Part("paper_drift", GROUP, 2, _drifts),
)
