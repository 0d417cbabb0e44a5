"""Points to which prompts return, learned from prompts that are written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from policies.admission.base import BaseAdmission
from policies.worth.kinds import (
    ANSWER_END,
    BRANCH,
    KINDS,
    LAST_TOKEN,
    PLACES,
    PROMPT_END,
    STAGES,
    WITHIN,
)
from policies.worth.points import ReturnPoints
from simulator.trace.grid import Grid
from tests.simulator.caches import cache_of
from tests.simulator.placers import Wanted
from tests.simulator.prompts import trace_of

BASES: dict[str, int] = {"prompt": PROMPT_END, "answer": ANSWER_END, "within": WITHIN}


class AllPoints(ReturnPoints):
    """Remembers all points that were made, and insides among them."""

    def __init__(self, grid):
        self.all = []
        super().__init__(grid)

    def _new(self, *args):
        self.all.append(super()._new(*args))
        return self.all[-1]


class Learner(Wanted):
    """Wants no states; learns points from each request, and notes the candidates of each prompt."""

    def __init__(self, grid):
        super().__init__()
        self.points = AllPoints(grid)
        self.asked = []

    def place(self, prefix, window):
        self.asked.append(self.points.candidates(prefix))
        return []

    def observe(self, overlap):
        self.points.observe(overlap)


class Again(BaseAdmission):
    """Tells the same points of each request once more, at its first commit."""

    observes = True

    def __init__(self, points):
        self.points = points

    def observe(self, overlap):
        self.points.observe(overlap)


class Known:
    """Prompts, written as text, that come one after another; a letter is a token."""

    def __init__(self, prompts, answers=None, labels=None, alignment=1, twice=False):
        texts = [tuple(map(ord, text)) for text in prompts]
        after = None if answers is None else [tuple(map(ord, text)) for text in answers]
        trace = trace_of(texts, answers=after)
        if labels is not None:
            trace = replace(trace, label=np.array(labels, dtype=np.int32))
        self.learner = Learner(Grid(alignment=alignment))
        self.points = self.learner.points
        self.cache = cache_of(trace, self.learner, None, Again(self.points) if twice else None)
        self.count = len(prompts)

    def serve_all(self, chunk=None):
        """Serve all, one by one, in chunks of so many tokens; return this."""
        for request in range(self.count):
            running = self.cache.admit(request)
            for upto in range(chunk or running.end, running.end, chunk or 1):
                if upto > running.computed:
                    self.step(running, upto)
            self.step(running, running.end)
            self.cache.release(running)
        return self

    def step(self, running, upto):
        """Plan and commit a chunk."""
        self.cache.plan(running, upto)
        self.cache.commit(running, upto, 0.0)

    def made(self):
        """Return what all ends and branches are, in the order in which they were made."""
        points = [(*what(point.kind), point.position, point.last) for point in self.points.all]
        return [point for point in points if not point[0].startswith("within")]

    def log(self):
        """Return all waits: kind, begin and end, None for those that are not over.

        An inside waits for its first divergence alone.
        """
        waits = self.points.rates.waits
        ends = (None if end > 1 << 50 else end for end in waits._ended)
        log = zip(waits._kinds, waits._begun, ends, strict=True)
        return [
            wait for wait in log if not (what(wait[0])[0].startswith("within") and what(wait[0])[1])
        ]


def what(kind):
    """Return the name of a kind of points, its stage, and its label, -1 where not told apart."""
    group, rest = divmod(kind, KINDS)
    point, stage = divmod(rest, STAGES)
    assert point < PLACES
    if point == BRANCH:
        return "branch", stage, group - 1
    if point == LAST_TOKEN:
        return "last token", stage, group - 1
    name = max((base, name) for name, base in BASES.items() if base <= point)[1]
    return f"{name} {point - BASES[name]}", stage, group - 1


def kind_of(name, stage=0, label=-1):
    """Return the kind of points with a name, as `what` gives it."""
    if name in {"branch", "last token"}:
        point = BRANCH if name == "branch" else LAST_TOKEN
    else:
        base, turns = name.split()
        point = BASES[base] + int(turns)
    return KINDS * (label + 1) + point * STAGES + stage
