"""What a running request was granted, and what it will leave behind."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.plugins.entries import Checkpoint, KvSpan


@dataclass(slots=True)
class Grant:
    """What the cache holds of a prompt, why it does not hold more, and what is planned for it.

    Everything is in tokens.

    Parameters
    ----------
    leaf
        The span with which the prompt ends.
    end
        The span with which prompt and answer end, `leaf` where the answer is unknown; set once it
        has been computed.
    overlap, done_overlap
        Shared with the best of all prompts that arrived before, and of those whose prefill
        has ended.
    kv_depth
        Prompt whose KV is resident.
    resume
        The resume point.
    checkpoint
        The state there; None where it is held implicitly.
    kv_span
        The span that holds the KV at the resume point.
    losses
        Lost between the steps of the chain of `attribution`, in the order of `records.LOSSES`.
    positions
        Where states are captured: ascending, behind `resume`, up to the end of the answer.
    floored
        The positions that were wanted, of those that had to be floored.
    written
        The checkpoints that have been stored, ascending.
    overflows
        Some of its KV has found no room.
    request, session, label
        As in the trace.
    """

    leaf: KvSpan
    overlap: int
    done_overlap: int
    kv_depth: int
    resume: int
    checkpoint: Checkpoint | None
    kv_span: KvSpan
    losses: tuple[int, int, int, int, int, int, int, int]
    positions: list[int] = field(default_factory=list)
    floored: list[int] = field(default_factory=list)
    written: list[Checkpoint] = field(default_factory=list)
    overflows: bool = False
    end: KvSpan = field(init=False)
    request: int = -1
    session: int = -1
    label: int = -1
