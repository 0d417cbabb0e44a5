"""What policies are told about a request: `Prefix`, `Window` and `Overlap`.

These are plain classes with slots, since one of each is created per request and creating a
dataclass is slower.
"""

from __future__ import annotations

from simulator.plugins.entries import KvSpan


class Prefix:
    """A prompt, as known when its prefill starts. All positions are in tokens from its start.

    Parameters
    ----------
    prompt_tokens
        Length of the prompt.
    resume
        Position from which prefill continues; new states can only be stored after it.
    overlap
        Longest prefix shared with any prompt whose prefill has ended.
    step
        The larger of the trace's block size and the model's alignment, in tokens. Requested
        positions are rounded down to multiples of both, so closer ones may coincide.
    session, label
        Indices of session and label, -1 if unknown.
    span
        The KV span that ends with the prompt; `branch_points` reads the tree from it.
    end_tokens
        Length of prompt plus answer if the trace has the answer: states can be stored during decode
        too. Otherwise the length of the prompt, or 0, which means the same.
    request
        Index of the request in the trace, -1 if there is none.
    """

    __slots__ = (
        "end_tokens",
        "label",
        "overlap",
        "prompt_tokens",
        "request",
        "resume",
        "session",
        "span",
        "step",
    )

    def __init__(
        self,
        prompt_tokens: int,
        resume: int,
        overlap: int,
        step: int,
        session: int,
        label: int,
        span: KvSpan,
        end_tokens: int = 0,
        request: int = -1,
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.resume = resume
        self.overlap = overlap
        self.step = step
        self.session = session
        self.label = label
        self.span = span
        self.end_tokens = end_tokens
        self.request = request

    def branch_points(self) -> list[int]:
        """Return the positions in `(resume, prompt_tokens)` where prompts were seen to diverge.

        They are ascending and include positions where this prompt itself diverges from an earlier
        one.
        """
        points: list[int] = []
        span = self.span.parent
        while span.stop > self.resume:
            if span.children_seen > 1:
                points.append(span.stop)
            span = span.parent
        return points[::-1]


class Window:
    """The tokens `(start, stop]` computed in the next chunk, which may be the whole prompt.

    A state can be stored at any position in it.
    """

    __slots__ = ("start", "stop")

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop


class Overlap:
    """A request whose prefill has ended, with its longest match among earlier requests.

    Parameters
    ----------
    depth
        Longest prefix shared with an earlier request, in tokens; 0 if none.
    prompt_tokens
        Length of the prompt.
    session, label
        Indices of session and label, -1 if unknown.
    span
        The KV span that ends with the prompt; None if there is no tree. Tokens after `depth` on its
        path appeared first in this request.
    kv_depth
        Tokens whose KV was resident when the prefill started, -1 if unknown.
    resume
        Position from which prefill continued.
    written
        Number of checkpoints that the request has stored.
    request
        Index of the request in the trace, -1 if there is none.
    now_seconds
        Time since the first arrival when its prefill ended.
    end
        The span that ends with the answer, if the trace has the answer; otherwise `span` or None.
    """

    __slots__ = (
        "depth",
        "end",
        "kv_depth",
        "label",
        "now_seconds",
        "prompt_tokens",
        "request",
        "resume",
        "session",
        "span",
        "written",
    )

    def __init__(
        self,
        depth: int,
        prompt_tokens: int,
        session: int = -1,
        label: int = -1,
        span: KvSpan | None = None,
        kv_depth: int = -1,
        resume: int = 0,
        written: int = 0,
        request: int = -1,
        now_seconds: float = 0.0,
        end: KvSpan | None = None,
    ) -> None:
        self.depth = depth
        self.prompt_tokens = prompt_tokens
        self.session = session
        self.label = label
        self.span = span
        self.kv_depth = kv_depth
        self.resume = resume
        self.written = written
        self.request = request
        self.now_seconds = now_seconds
        self.end = end

    def counted_anew(self, depth: int, prompt_tokens: int) -> Overlap:
        """Return a copy with `depth` and `prompt_tokens` replaced, counted from another origin."""
        return Overlap(
            depth,
            prompt_tokens,
            self.session,
            self.label,
            self.span,
            self.kv_depth,
            self.resume,
            self.written,
            self.request,
            self.now_seconds,
            self.end,
        )
