"""The prompts of all requests of the built-in workload, as keys of runs of tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workloads.randomness import stream
from workloads.synthetic.builtin.chats import ChatTurns
from workloads.synthetic.builtin.contents import (
    CHAT,
    KINDS,
    OPENINGS,
    QUESTION,
    SECTIONS,
    SYSTEM,
    Contents,
    ended,
    opened,
    question_parts,
    section_parts,
)
from workloads.synthetic.builtin.requests import Starts, TraceRequests
from workloads.synthetic.draws import Int64, lognormal_tokens, pick

QUESTION_PARTS = 5  # template, document, instruction, opening, rest
SYSTEM_PARTS = SECTIONS + 2  # sections, opening, rest


def prompt_keys(
    seed: int, contents: Contents, starts: Starts, chats: ChatTurns, requests: TraceRequests
) -> tuple[NDArray[np.uint64], Int64, Int64]:
    """Return keys, ends and row offsets of all prompts' parts, as `intern_runs` takes them."""
    kind = starts.kind[requests.start]
    parts = np.choose(kind, [QUESTION_PARTS, SYSTEM_PARTS, SECTIONS + 1 + requests.turn])
    offsets = np.concatenate([[0], np.cumsum(parts)])
    keys = np.empty(offsets[-1], dtype=np.int64)
    stops = np.empty(offsets[-1], dtype=np.int64)
    for which, shared in _shared_parts(seed, contents, starts):
        rows = np.flatnonzero(kind == which)
        of_start = np.searchsorted(np.flatnonzero(starts.kind == which), requests.start[rows])
        at = offsets[rows][:, None] + np.arange(shared[0].shape[1])
        keys[at], stops[at] = shared[0][of_start], shared[1][of_start]
    at, keys_of_turns, stops_of_turns = _turns(
        np.flatnonzero(kind == CHAT), offsets, chats, requests
    )
    keys[at], stops[at] = keys_of_turns, stops_of_turns
    return keys.view(np.uint64), stops, offsets


def _shared_parts(
    seed: int, contents: Contents, starts: Starts
) -> Iterator[tuple[int, tuple[Int64, Int64]]]:
    """Yield for each kind keys and ends of all prompts' parts, except for the turns of chats."""
    count = len(starts.kind)
    weights = 1 / np.arange(1.0, OPENINGS + 1)
    opening = pick(stream(seed, "openings").random(count), weights)
    rest = lognormal_tokens(stream(seed, "rests"), 120, 0.6, 50, 500, count)
    question, system, chat = (np.flatnonzero(starts.kind == kind) for kind in range(len(KINDS)))
    rank, generation = starts.rank, starts.generation
    parts = question_parts(
        contents, rank[question], generation[question], starts.rewrite[question], opening[question]
    )
    yield QUESTION, ended(*parts, question, rest[question])
    parts = section_parts(contents, rank[system], generation[system])
    parts = opened(*parts, opening[system])
    yield SYSTEM, ended(*parts, system, rest[system])
    yield CHAT, section_parts(contents, rank[chat], generation[chat])


def _turns(
    rows: Int64, offsets: Int64, chats: ChatTurns, requests: TraceRequests
) -> tuple[Int64, Int64, Int64]:
    """Return where the turns of chats belong among all parts, and their keys and ends."""
    turn = requests.turn[rows]
    keys, stops, begins = chats.parts(requests.chat[rows], turn)
    at = np.arange(len(keys)) + np.repeat(offsets[rows] + SECTIONS - begins, turn + 1)
    return at, keys, stops
