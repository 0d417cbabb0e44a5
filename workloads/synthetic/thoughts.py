"""Generator of trees of thought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workloads.drift import Drift
from workloads.randomness import stream
from workloads.spec import knob
from workloads.synthetic.catalogue import PrefixLaw
from workloads.synthetic.draws import ANSWER_SECONDS_PER_TOKEN, Float64, Int64, lognormal_tokens
from workloads.synthetic.generator import PrefixGenerator
from workloads.synthetic.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Thoughts(PrefixGenerator):
    """Trees of thought: several samples from each node, some of which become nodes themselves.

    The root's prompt is `template | problem`. Every node of a level is sampled `samples` times at
    once, with the same prompt. When all samples of the level are written, `branching` samples of
    each node are kept and, at random, at most `beam` of these over the whole level. The prompt of a
    kept sample is its parent's prompt, its thought and an instruction. So a tree has samples * sum
    over l < depth of min(beam, branching**l) requests, the same for all trees.

    Source: Yao et al., Tree of Thoughts (2023), breadth-first search.

    Parameters
    ----------
    count
        Number of problems in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent; 0 is uniform.
    template_tokens
        Tokens before every problem; 0 for none.
    problem_tokens_median, problem_tokens_sigma
        Lengths of problems: lognormal, clipped to an eighth and eight times the median.
    depth
        Levels of the tree.
    branching
        Samples kept of a node, at most `samples`.
    beam
        Largest number of nodes of a level.
    samples
        Samples from one node.
    thought_tokens_median
        Lengths of thoughts: lognormal (sigma 0.6).
    instruction_tokens
        Tokens between a thought and the next one.
    """

    name: ClassVar[str] = "thoughts"
    labels: ClassVar[tuple[str, ...]] = ("thought",)

    count: int = knob(1000, 1, 10**6)
    zipf_exponent: float = knob(0.5, 0.0, 4.0)
    template_tokens: int = knob(800, 0, 10**6)
    problem_tokens_median: int = knob(300, 8, 10**6)
    problem_tokens_sigma: float = knob(0.5, 0.0, 3.0)
    depth: int = knob(3, 1, 32)
    branching: int = knob(2, 1, 64)
    beam: int = knob(5, 1, 256)
    samples: int = knob(3, 1, 64)
    thought_tokens_median: int = knob(200, 1, 10**5)
    instruction_tokens: int = knob(24, 1, 10**5)

    def problem(self) -> str | None:
        """Return a problem if more samples are to be kept than there are, else None."""
        if self.branching > self.samples:
            return f"branching: expected at most samples, {self.samples}, found {self.branching}"
        return None

    @property
    def nodes(self) -> list[int]:
        """The number of nodes of each level."""
        nodes = [1]
        while len(nodes) < self.depth:
            nodes.append(min(self.beam, nodes[-1] * self.branching))
        return nodes

    @property
    def requests_per_session(self) -> float:
        """The number of requests of every tree."""
        return float(self.samples * sum(self.nodes))

    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of templates and problems."""
        return PrefixLaw(
            items=self.count,
            zipf_exponent=self.zipf_exponent,
            tokens_median=self.problem_tokens_median,
            tokens_sigma=self.problem_tokens_sigma,
            group_tokens=self.template_tokens,
        )

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw trees that start at positions x of the trace (0 to 1)."""
        catalogue = self.catalogue(seed, drift)
        rank, opening = catalogue.draw(stream(seed, "contents"), x)
        levels = self._levels(seed, catalogue.paths(rank, opening, x), catalogue.keys)
        total = sum(len(level.answer) for level in levels)
        trees = [np.repeat(np.arange(len(x)), nodes * self.samples) for nodes in self.nodes]
        first_answer = catalogue.keys + len(x) * sum(self.nodes)
        return Traffic(
            session=np.concatenate(trees),
            delay_seconds=np.concatenate([level.delay_seconds for level in levels]),
            keys=np.concatenate([level.keys for level in levels]),
            stops=np.concatenate([level.stops for level in levels]),
            answer_key=first_answer + np.arange(total),
            output_tokens=np.concatenate([level.answer for level in levels]),
            label=np.zeros(total, dtype=np.int64),
            conversation=np.ones(total, dtype=np.bool_),
            distinct=first_answer + total,
        )

    def _levels(self, seed: int, paths: tuple[Int64, Int64], first_key: int) -> list[_Level]:
        """Draw all levels of all trees.

        Keys of nodes start at `first_key`, followed by those of thoughts.
        """
        lengths, kept = stream(seed, "thoughts"), stream(seed, "kept thoughts")
        trees = len(paths[0])
        node_key, thought_key = first_key, first_key + trees * sum(self.nodes)
        keys, stops = (
            paths[0][:, :-1],
            paths[1][:, :-1],
        )  # without the column of openings, which is empty
        delay = np.zeros(trees)
        levels: list[_Level] = []
        for nodes, following in zip(self.nodes, [*self.nodes[1:], 0], strict=True):
            level = self._sampled(lengths, keys, stops, np.repeat(delay, nodes))
            levels.append(level)
            chosen = self._kept(kept, trees, nodes, following)
            own = node_key + np.arange(len(chosen))
            begun, thought = level.stops[chosen, -1], level.stops[chosen, -1] + level.answer[chosen]
            keys = np.stack([level.keys[chosen, -1], thought_key + chosen, own], axis=1)
            stops = np.stack([begun, thought, thought + self.instruction_tokens], axis=1)
            keys, stops = (_widened(columns, paths[0].shape[1] - 1) for columns in (keys, stops))
            longest = level.answer.reshape(trees, nodes * self.samples).max(axis=1)
            delay = delay + ANSWER_SECONDS_PER_TOKEN * longest
            node_key += len(own)
            thought_key += len(level.answer)
        return levels

    def _sampled(
        self, random: np.random.Generator, keys: Int64, stops: Int64, delay: Float64
    ) -> _Level:
        """Return `samples` samples of each node with these prompts."""
        count = len(keys) * self.samples
        return _Level(
            keys=np.repeat(keys, self.samples, axis=0),
            stops=np.repeat(stops, self.samples, axis=0),
            answer=lognormal_tokens(random, self.thought_tokens_median, 0.6, 1, 10**6, count),
            delay_seconds=np.repeat(delay, self.samples),
        )

    def _kept(self, random: np.random.Generator, trees: int, nodes: int, wanted: int) -> Int64:
        """Draw the samples that are kept, as numbers among those of the level."""
        candidates = nodes * self.branching
        order = np.argsort(random.random((trees, candidates)), axis=1)[:, :wanted]
        order.sort(axis=1)
        sample = order // self.branching * self.samples + order % self.branching
        return (sample + np.arange(trees)[:, None] * nodes * self.samples).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The samples of one level of all trees, tree by tree and node by node."""

    keys: Int64
    stops: Int64
    answer: Int64
    delay_seconds: Float64


def _widened(columns: Int64, width: int) -> Int64:
    """Pad columns in front to the given width."""
    return np.pad(columns, ((0, 0), (width - columns.shape[1], 0)))
