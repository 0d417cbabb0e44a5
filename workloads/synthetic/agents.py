"""Generator of agents with tool calls and sub-agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from workloads.drift import Drift
from workloads.randomness import stream
from workloads.spec import knob
from workloads.synthetic.catalogue import Catalogue, PrefixLaw
from workloads.synthetic.draws import Float64, Int64, geometric, geometric_mean, lognormal_tokens
from workloads.synthetic.generator import PrefixGenerator
from workloads.synthetic.steps import Steps, delays
from workloads.synthetic.threads import Threads
from workloads.synthetic.traffic import Traffic

MOST_STEPS = 1024


@dataclass(frozen=True, slots=True)
class Agents(PrefixGenerator):
    """Agents that call tools, some of whose calls start sub-agents.

    The first prompt is `prefix | task`; each step appends the call that the model wrote and what
    the tool returned. A sub-agent starts when its call has been written. Its prompt is a prefix
    shared by all sub-agents and a task of its own, and it takes steps like an agent. The agent
    waits for it; its result is what the call appends to the agent's context.

    Parameters
    ----------
    count
        Number of agents' prefixes (instructions and tools) in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent; 0 is uniform.
    prefix_tokens_median, prefix_tokens_sigma
        Lengths of prefixes: lognormal, clipped to an eighth and eight times the median.
    task_tokens_median
        Lengths of tasks of agents and sub-agents: lognormal (sigma 0.8).
    steps_mean
        Requests of an agent: geometric, at most 1,024.
    call_tokens_median
        Tokens that the model writes in a step: lognormal (sigma 0.8).
    tool_tokens_median
        Tokens that a tool or a sub-agent returns: lognormal (sigma 1.2), at most 20,000.
    tool_seconds_median
        Duration of a tool call: lognormal (sigma 1).
    subagent_share
        Share of the calls that start a sub-agent.
    subagent_prefix_tokens
        Tokens of the prefix that all sub-agents share.
    subagent_steps_mean
        Requests of a sub-agent: geometric, at most 1,024.
    """

    name: ClassVar[str] = "agents"
    labels: ClassVar[tuple[str, ...]] = ("agent", "subagent")

    count: int = knob(8, 1, 10**6)
    zipf_exponent: float = knob(0.9, 0.0, 4.0)
    prefix_tokens_median: int = knob(6000, 8, 10**6)
    prefix_tokens_sigma: float = knob(0.4, 0.0, 3.0)
    task_tokens_median: int = knob(300, 1, 10**5)
    steps_mean: float = knob(20.0, 1.0, 300.0)
    call_tokens_median: int = knob(150, 1, 10**4)
    tool_tokens_median: int = knob(600, 1, 10**4)
    tool_seconds_median: float = knob(2.0, 1e-3, 1e5)
    subagent_share: float = knob(0.05, 0.0, 1.0)
    subagent_prefix_tokens: int = knob(3000, 1, 10**6)
    subagent_steps_mean: float = knob(8.0, 1.0, 300.0)

    @property
    def requests_per_session(self) -> float:
        """Mean number of steps per session, including those of sub-agents."""
        steps = geometric_mean(self.steps_mean, MOST_STEPS)
        inner = geometric_mean(self.subagent_steps_mean, MOST_STEPS)
        return steps + (steps - 1) * self.subagent_share * inner

    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of agents' prefixes."""
        return PrefixLaw(
            items=self.count,
            zipf_exponent=self.zipf_exponent,
            tokens_median=self.prefix_tokens_median,
            tokens_sigma=self.prefix_tokens_sigma,
        )

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw agents that start at positions x of the trace (0 to 1)."""
        catalogue = self.catalogue(seed, drift)
        scale = drift.scale(drift.step(x))
        main = self._steps(seed, "agent", self.steps_mean, scale)
        caller = self._callers(seed, main)
        parent = main.turns.thread[caller]
        sub = self._steps(seed, "sub-agent", self.subagent_steps_mean, scale[parent])
        keys, stops, answer_key = self._rows(catalogue, seed, x, (main, sub))
        total = len(keys)
        return Traffic(
            session=np.concatenate([main.turns.thread, parent[sub.turns.thread]]),
            delay_seconds=delays(main, sub, caller),
            keys=keys,
            stops=stops,
            answer_key=answer_key,
            output_tokens=np.concatenate([main.answer, sub.answer]),
            label=(np.arange(total) >= len(main.turns)).astype(np.int64),
            conversation=np.ones(total, dtype=np.bool_),
            distinct=catalogue.keys + 1 + 2 * total,
        )

    def _callers(self, seed: int, main: Steps) -> Int64:
        """Draw the steps that start a sub-agent; the last step of a task makes no call."""
        calling = stream(seed, "sub-agents").random(len(main.turns)) < self.subagent_share
        calling[main.turns.last] = False
        return np.flatnonzero(calling)

    def _rows(
        self, catalogue: Catalogue, seed: int, x: Float64, steps: tuple[Steps, Steps]
    ) -> tuple[Int64, Int64, Int64]:
        """Return keys and ends of the parts of all prompts, agents' first, and answers' keys."""
        main, sub = steps
        rank, opening = catalogue.draw(stream(seed, "contents"), x)
        rows = main.rows(catalogue.paths(rank, opening, x), catalogue.keys + 1)
        shared = np.full((len(sub.turns.begin), catalogue.levels), catalogue.keys)
        ends = np.zeros_like(shared)
        ends[:, -1] = self.subagent_prefix_tokens
        sub_rows = sub.rows((shared, ends), catalogue.keys + 1 + 2 * len(main.turns))
        keys, stops, answers = (np.concatenate(pair) for pair in zip(rows, sub_rows, strict=True))
        return keys, stops, answers

    def _steps(self, seed: int, who: str, steps_mean: float, scale: Float64) -> Steps:
        """Draw the steps of agents or sub-agents, whose additions are `scale` times longer."""
        turns = Threads.of(
            geometric(stream(seed, f"{who} steps"), steps_mean, MOST_STEPS, len(scale))
        )
        total = len(turns)
        added = lognormal_tokens(
            stream(seed, f"{who} tools"), self.tool_tokens_median, 1.2, 1, 20_000, total
        )
        added[turns.begin] = lognormal_tokens(
            stream(seed, f"{who} tasks"), self.task_tokens_median, 0.8, 1, 20_000, len(scale)
        )
        answer = lognormal_tokens(
            stream(seed, f"{who} calls"), self.call_tokens_median, 0.8, 1, 20_000, total
        )
        slow = np.exp(stream(seed, f"{who} tool times").standard_normal(total))
        added = np.rint(added * scale[turns.thread]).astype(np.int64)
        return Steps(turns, added, answer, self.tool_seconds_median * slow)
