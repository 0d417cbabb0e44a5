"""Ask one policy alone: a placer, an estimator, or an eviction policy on plain objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policies.objects import ObjectStream, replay
from policies.objects.libcachesim import spelled_out
from policies.registry import create
from simulator.plugins.entries import KvSpan
from simulator.plugins.protocols import Overlap, Prefix, Window


def planned(
    placer: str, prompt_tokens: int, overlaps: Sequence[int] = (), resume: int = 0
) -> list[int]:
    """Return the positions at which a placer wants states in a prompt, in tokens.

    Parameters
    ----------
    placer
        A policy string, such as "block:size=4".
    prompt_tokens
        Length of the prompt.
    overlaps
        The overlaps of earlier requests, in tokens, which the placer may learn from; their
        prompts were as long.
    resume
        The resume point, up to which the prompt is known.

    Raises
    ------
    UsageError
        If the policy string is wrong.

    Examples
    --------
    >>> from policies.tryout import planned
    >>> planned("block:size=4", prompt_tokens=13, resume=4)
    [8, 12]
    """
    policy = create("placer", placer)
    for depth in overlaps if policy.observes else ():
        policy.observe(Overlap(depth, prompt_tokens))
    root = KvSpan(None, -1, 0)
    prompt = KvSpan(KvSpan(root, 0, resume) if resume else root, resume, prompt_tokens)
    prefix = Prefix(prompt_tokens, resume, resume, 1, -1, -1, prompt)
    return [*policy.place(prefix, Window(resume, prompt_tokens))]


def learned(estimator: str, overlaps: Sequence[int]) -> dict[int, float]:
    """Return the weight that an estimator gives to each overlap depth; misses are depth 0.

    Parameters
    ----------
    estimator
        A policy string, such as "window:requests=3".
    overlaps
        The overlaps of the requests, in tokens.

    Raises
    ------
    UsageError
        If the policy string is wrong.

    Examples
    --------
    >>> from policies.tryout import learned
    >>> learned("window", [4, 0, 4])
    {0: 1.0, 4: 2.0}
    """
    policy = create("estimator", estimator)
    for depth in overlaps:
        policy.observe(Overlap(depth, max(overlaps)))
    law = policy.law()
    misses = {0: law.misses} if law.misses else {}
    return misses | dict(zip(law.depths.tolist(), law.weights.tolist(), strict=True))


def evicted(eviction: str, requests: str, capacity_bytes: int, **size_bytes: int) -> str:
    """Return the objects that leave a cache of plain objects, in the order in which they leave.

    Parameters
    ----------
    eviction
        A policy string, such as "clock:bits=2"; of a policy that needs no prefixes.
    requests
        A letter for each request: the object that is asked for. Spaces are ignored.
    capacity_bytes
        Bytes of the cache.
    size_bytes
        Bytes of the objects whose size is not 1, by letter.

    Raises
    ------
    UsageError
        If the policy string is wrong, or the policy needs prefixes.

    Examples
    --------
    >>> from policies.tryout import evicted
    >>> evicted("lru", "AB A C D", capacity_bytes=2)
    'BA'
    """
    letters = requests.replace(" ", "")
    named = "".join(dict.fromkeys(letters))
    policy: Any = create("eviction", spelled_out(eviction))
    gone: list[str] = []
    on_evict = policy.on_evict

    def note(entry: Any) -> None:
        gone.append(named[entry.key])
        on_evict(entry)

    policy.on_evict = note
    stream = ObjectStream.of([*letters], [size_bytes.get(letter, 1) for letter in letters])
    replay(stream, policy, capacity_bytes)
    return "".join(gone)
