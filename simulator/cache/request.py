"""A request in the cache: what was matched for it, and what it is granted while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.plugins.entries import Checkpoint, KvSpan

Losses = tuple[int, int, int, int, int, int, int, int]


@dataclass(slots=True)
class Match:
    """What the cache holds of a prompt, and why it does not hold more. Everything is in tokens.

    Parameters
    ----------
    leaf
        The span with which the prompt ends.
    overlap, done_overlap
        Shared with the best of all prompts that arrived before, and of what has been computed
        of them.
    kv_depth
        Prompt whose KV is resident.
    resume
        The resume point.
    checkpoint
        The state there; None where it is held implicitly.
    kv_span
        The span that holds the KV at the resume point.
    losses
        Lost between the steps of the chain of `simulator.cache.match`, in the order of
        `records.LOSSES`.
    """

    leaf: KvSpan
    overlap: int
    done_overlap: int
    kv_depth: int
    resume: int
    checkpoint: Checkpoint | None
    kv_span: KvSpan
    losses: Losses


@dataclass(slots=True, eq=False)
class Running:
    """A request that has been admitted: what it uses, what it will leave behind, and its times.

    Parameters
    ----------
    request, session, label
        As in the trace.
    match
        What the cache held of its prompt when it was admitted.
    end
        Where prompt and answer end, in tokens; where the prompt ends if the answer is unknown.
    computed
        Up to where it has been committed, in tokens; the resume point at first.
    captures
        Where states are captured in the chunk that runs: ascending, behind `computed`.
    floored
        The positions that were wanted, of those that had to be floored.
    written
        The checkpoints that have been stored, ascending.
    pinned
        The deepest span whose KV it needs besides that of `match.checkpoint`: what it has stored
        itself while it runs on, or the KV at a state that is held implicitly; None if none.
    pinned_end
        Up to where it needs that, in tokens.
    held_tokens, held_states
        KV and states that it holds beyond what is stored, where that is counted.
    overflows
        Some of its KV has found no room.
    arrival_seconds, wait_seconds, restore_seconds, prefill_seconds, capture_seconds
        When it arrived, and what it has spent since, kept by the replica that serves it.
    """

    request: int
    session: int
    label: int
    match: Match
    end: int
    computed: int
    captures: list[int] = field(default_factory=list)
    floored: list[int] = field(default_factory=list)
    written: list[Checkpoint] = field(default_factory=list)
    pinned: KvSpan | None = None
    pinned_end: int = 0
    held_tokens: int = 0
    held_states: int = 0
    overflows: bool = False
    arrival_seconds: float = 0.0
    wait_seconds: float = 0.0
    restore_seconds: float = 0.0
    prefill_seconds: float = 0.0
    capture_seconds: float = 0.0

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return self.match.leaf.stop
