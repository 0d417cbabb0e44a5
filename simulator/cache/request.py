"""The match of a request in the cache, and its state while it runs.

These are plain classes with slots, since one of each is created per request and creating a
dataclass is slower.
"""

from __future__ import annotations

from simulator.plugins.entries import Checkpoint, KvSpan
from simulator.plugins.prefix import Overlap


class Match:
    """The result of matching a prompt against the cache. All lengths are in tokens.

    Parameters
    ----------
    leaf
        The KV span (the KV of consecutive tokens) that ends with the prompt.
    overlap
        Longest prefix shared with any prompt that arrived before.
    done_overlap
        Longest shared prefix that has already been computed.
    kv_depth
        Longest prefix of the prompt whose KV is resident.
    resume
        Position from which prefill continues; the tokens before it are saved.
    checkpoint
        The recurrent state at `resume`; None if states are available everywhere at no cost.
    kv_span
        The span that contains the KV at `resume`.
    never_seen, last_token, in_flight, not_admitted, kv_evicted
        Tokens not saved, by cause; see `simulator.cache.match`.
    not_checkpointed, alignment, state_evicted
        Further causes.
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
    """The state of an admitted request in the cache.

    Attributes
    ----------
    request, session, label
        Indices, as in the trace.
    match
        The match of its prompt at admission.
    end
        Length of prompt plus answer in tokens; of the prompt alone if the answer is unknown.
    computed
        Number of tokens committed so far; `match.resume` at first.
    captures
        Positions in the current chunk where states will be stored: ascending, after `computed`.
    floored
        Requested positions that were rounded down to the grid of allowed positions.
    written
        Checkpoints (stored states) of this request, ascending.
    pinned
        A KV span pinned in addition to that of `match.checkpoint`, or None: the deepest one that
        the request has stored itself, or that at its resume point if there is no checkpoint there.
    pinned_end
        Position up to which the KV of `pinned` is needed, in tokens.
    held_tokens, held_states
        Tokens of KV and number of states reserved for the request apart from stored entries, if the
        memory of running requests is counted.
    overflows
        Whether some of its KV did not fit.
    kv_wanted
        Position up to which KV is stored, where KV that no state can use is not.
    arrival_seconds
        Time of arrival.
    wait_seconds, restore_seconds, prefill_seconds, capture_seconds
        Time spent waiting, loading states, computing the prompt and storing states.
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
        "kv_wanted",
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
        self.kv_wanted = 0
        self.arrival_seconds = self.wait_seconds = 0.0
        self.restore_seconds = self.prefill_seconds = self.capture_seconds = 0.0


def overlap_of(running: Running, depth: int, end: KvSpan, now_seconds: float) -> Overlap:
    """Return what policies are told about a request that is computed up to the KV span `end`.

    It contains nothing about the answer while the prompt is still being computed.

    Parameters
    ----------
    running
        The request.
    depth
        Longest prefix shared with what is known of earlier requests, in tokens.
    end
        The span that ends with what is computed.
    now_seconds
        Simulated time.
    """
    matched = running.match
    return Overlap(
        depth,
        matched.leaf.stop,
        running.session,
        running.label,
        matched.leaf,
        matched.kv_depth,
        matched.resume,
        len(running.written),
        running.request,
        now_seconds,
        end if end.stop > matched.leaf.stop else matched.leaf,
    )
