"""A request in the cache: what was matched for it, and what it is granted while it runs.

Plain classes with slots rather than dataclasses: one of each is made for every request.
"""

from __future__ import annotations

from simulator.plugins.entries import Checkpoint, KvSpan


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
    never_seen, last_token, in_flight, not_admitted, kv_evicted, not_checkpointed, alignment, \
    state_evicted
        Lost between the steps of the chain of `simulator.cache.match`.
    """

    __slots__ = (
        "alignment",
        "checkpoint",
        "done_overlap",
        "in_flight",
        "kv_depth",
        "kv_evicted",
        "kv_span",
        "last_token",
        "leaf",
        "never_seen",
        "not_admitted",
        "not_checkpointed",
        "overlap",
        "resume",
        "state_evicted",
    )

    def __init__(
        self,
        leaf: KvSpan,
        overlap: int,
        done_overlap: int,
        kv_depth: int,
        resume: int,
        checkpoint: Checkpoint | None,
        kv_span: KvSpan,
        never_seen: int,
        last_token: int,
        in_flight: int,
        not_admitted: int,
        kv_evicted: int,
        not_checkpointed: int,
        alignment: int,
        state_evicted: int,
    ) -> None:
        self.leaf = leaf
        self.overlap = overlap
        self.done_overlap = done_overlap
        self.kv_depth = kv_depth
        self.resume = resume
        self.checkpoint = checkpoint
        self.kv_span = kv_span
        self.never_seen = never_seen
        self.last_token = last_token
        self.in_flight = in_flight
        self.not_admitted = not_admitted
        self.kv_evicted = kv_evicted
        self.not_checkpointed = not_checkpointed
        self.alignment = alignment
        self.state_evicted = state_evicted


class Running:
    """A request that has been admitted: what it uses, what it will leave behind, and its times.

    Attributes
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

    __slots__ = (
        "arrival_seconds",
        "capture_seconds",
        "captures",
        "computed",
        "end",
        "floored",
        "held_states",
        "held_tokens",
        "label",
        "match",
        "overflows",
        "pinned",
        "pinned_end",
        "prefill_seconds",
        "request",
        "restore_seconds",
        "session",
        "wait_seconds",
        "written",
    )

    def __init__(self, request: int, session: int, label: int, match: Match, end: int) -> None:
        self.request = request
        self.session = session
        self.label = label
        self.match = match
        self.end = end
        self.computed = match.resume
        self.captures: list[int] = []
        self.floored: list[int] = []
        self.written: list[Checkpoint] = []
        self.pinned: KvSpan | None = None
        self.pinned_end = 0
        self.held_tokens = self.held_states = 0
        self.overflows = False
        self.arrival_seconds = self.wait_seconds = 0.0
        self.restore_seconds = self.prefill_seconds = self.capture_seconds = 0.0
