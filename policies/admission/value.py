"""Admit what is worth more than what must leave."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission
from policies.eviction.prefixed import state_at
from policies.parameters import require
from simulator.entry import Checkpoint, Entry, KvRun
from simulator.protocols import Overlap
from simulator.world import World


class Value(BaseAdmission):
    """Admit an entry while there is room, or if it is worth more per byte than the next victim.

    Candidate and victim are measured alike, as what they are good for: a state with the KV down
    from the next state above. Its worth is how often prompts passed it lately, times the seconds
    of prefill from that state to its own position. KV counts with the last state in its run; one
    without a state saves nothing as a victim, and as a candidate stands for a state at its end.

    Parameters
    ----------
    half_life
        Requests after which a use counts half. On the Mooncake conversation trace (placer
        `branch`, 32 to 256 GiB, a tenth of warm-up) 30 changes the token hit rate of `lru`,
        `pgdsf` and `value` by between -0.1 and +0.4 points; 100 adds up to 2.4 to that of `lru`
        at 64 GiB and costs it 1.6 at 256 GiB.

    Source: the price per byte of the `value` eviction; recency and frequency in one number are
    those of D. Lee et al., "LRFU: a spectrum of policies that subsumes the least recently used
    and least frequently used policies", IEEE Transactions on Computers 50(12), 2001.
    """

    observes: ClassVar[bool] = True

    def __init__(self, half_life: float = 30.0) -> None:
        require(0 < half_life < float("inf"), "half_life", "a positive number", half_life)
        self._half_life = half_life
        self._now = 0
        self._uses: dict[KvRun, tuple[float, int]] = {}  # decayed count, and when it was taken
        self._world: World | None = None

    def begin(self, world: World) -> None:
        """Learn the costs."""
        self._world = world

    def observe(self, overlap: Overlap) -> None:
        """Count a use of all runs of the path."""
        self._now += 1
        run = overlap.run
        while run is not None and run.stop:
            self._uses[run] = (1.0 + self._uses_of(run), self._now)
            run = run.parent

    def on_split(self, upper: KvRun, lower: KvRun) -> None:
        """Let the upper part have the count of the whole."""
        if lower in self._uses:
            self._uses[upper] = self._uses[lower]

    def admit(self, candidate: Entry, size_bytes: int, victim: Entry | None) -> bool:
        """Compare the candidate with the victim."""
        if victim is None:
            return True
        return self._worth_in(candidate, size_bytes) > self._worth_out(victim)

    def _uses_of(self, run: KvRun) -> float:
        uses, last = self._uses.get(run, (0.0, self._now))
        faded: float = 0.5 ** ((self._now - last) / self._half_life)
        return uses * faded

    def _worth_in(self, candidate: Entry, size_bytes: int) -> float:
        if isinstance(candidate, Checkpoint):
            return self._worth(candidate.run, candidate.position, size_bytes)
        state_bytes = 0 if self._world is None else self._world.sizes.state_bytes
        return self._worth(candidate, candidate.stop, size_bytes + state_bytes)

    def _worth_out(self, victim: Entry) -> float:
        if isinstance(victim, Checkpoint):
            return self._worth(victim.run, victim.position, victim.size_bytes)
        states = victim.checkpoints
        if not states:
            return 0.0
        size_bytes = victim.size_bytes + states[-1].size_bytes
        return self._worth(victim, states[-1].position, size_bytes)

    def _worth(self, run: KvRun, position: int, size_bytes: int) -> float:
        """Return uses x seconds per byte of a state there, from the next one above."""
        seconds = 1.0
        if self._world is not None:
            seconds = self._world.costs.prefill_seconds(state_at(run, position - 1), position)
        return self._uses_of(run) * seconds / max(size_bytes, 1)
