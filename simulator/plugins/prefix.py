"""What a plug-in is told of a request.

Plain classes with slots rather than dataclasses: one of each is made for every request.
"""

from __future__ import annotations

from simulator.plugins.entries import KvSpan


class Prefix:
    """What is known of a prompt when its prefill starts. All positions are tokens from the start.

    Parameters
    ----------
    prompt_tokens
        Length of the prompt.
    resume
        The resume point: states can only be written behind it.
    overlap
        Tokens shared with the best match among prompts whose prefill has ended.
    step
        The coarser of the trace's granularity and the model's alignment: positions are floored
        to both after the placer has answered, so closer ones may fall together.
    session, label
        Numbers of the session and of the label, -1 where unknown.
    span
        The span with which the prompt ends; `branch_points` reads the tree from it.
    end_tokens
        Where prompt and answer end, if the trace tells what was generated: states can be
        written in decode too, up to there. Otherwise the length of the prompt; 0 means that.
    request
        The number of the request in the trace, -1 where there is none.
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

        Ascending. A position counts once a second prompt has taken another way there; that of
        this prompt counts.
        """
        points: list[int] = []
        span = self.span.parent
        while span.stop > self.resume:
            if span.children_seen > 1:
                points.append(span.stop)
            span = span.parent
        return points[::-1]


class Window:
    """The tokens `(start, stop]` of a prompt that are computed next: a chunk, or all of them.

    A state can be captured at any position in it.
    """

    __slots__ = ("start", "stop")

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop


class Overlap:
    """A request whose prefill has ended, and how much of it had been seen before.

    Parameters
    ----------
    depth
        Tokens shared with the best match seen before; 0 is a miss.
    prompt_tokens
        Length of the prompt that was matched.
    session, label
        Numbers of the session and of the label, -1 where unknown.
    span
        The span with which the prompt ends, None where there is no tree: what lies beyond `depth`
        on its path was new with this request.
    kv_depth, resume
        What the cache still held of the overlap when the prefill started: tokens whose KV was
        resident, -1 where unknown, and the resume point.
    written
        Checkpoints that the request has stored.
    request
        The number of the request in the trace, -1 where there is none.
    now_seconds
        When its prefill has ended, since the first arrival.
    end
        The span with which prompt and answer end, where the trace tells what was generated;
        otherwise `span`, or None.
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
        """Return the same request with its lengths counted from another place."""
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
