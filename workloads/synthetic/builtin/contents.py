"""Contents of the prompts of the built-in workload, and how they drift.

A question is `template | document | instruction | opening | rest`, a system prompt's request `four
sections | opening | rest`, a chat `four sections | turn | answer and turn | ...`. An opening is one
of eight ways to begin, of 1 to 8 tokens, which prompts with the same prefix may share; the rest
belongs to one request.

Drift replaces texts over time, while popularity by rank stays the same. At a share x in [0, 1] of
the trace, rank r of documents (or system prompts) is in generation `floor(4 * drift * x +
phase(r))`, with a phase drawn uniformly from [0, 1). A document of the next generation is a new
one, of another length. The next generation of a system prompt keeps the sections before a random
one and replaces the others. The instruction after the documents is in version `floor(4 * drift *
x)`; versions differ in length, so that the point where questions about one document diverge moves
too. With drift 1, everything is replaced four times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workloads.randomness import stream
from workloads.synthetic.draws import Float64, Int64, lognormal_tokens

KINDS = ("question", "system", "chat")
QUESTION, SYSTEM, CHAT = range(3)

REWRITES = 4  # replacements of each text over a trace with drift 1
GENERATIONS = REWRITES + 1
SECTIONS = 4
OPENINGS = 8
TEMPLATE_TOKENS = 48

# Kinds of keys, stored in a key's top bits; the lower bits are the number of the whole prefix.
_TEMPLATE, _DOCUMENT, _INSTRUCTION, _QUESTION_OPENING, _REST, _OPENING, _SECTION = range(7)


def key(what: int, number: Int64 | int) -> Int64:
    """Return keys of prefixes whose last part is of kind `what` and has the given number."""
    return np.asarray(number, dtype=np.int64) | (what << 56)


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """Lengths of the shared texts by rank and generation, int64.

    Parameters
    ----------
    document_tokens
        Shape (documents, generations): tokens of each document.
    instruction_tokens
        Shape (generations,): tokens of each version of the instruction.
    section_version, section_stop
        Shape (system prompts, generations, sections): the generation in which the section was
        last rewritten, and the tokens from the start of the prompt to its end.
    phases
        Phases of documents and of system prompts, each shape (ranks,).
    """

    document_tokens: Int64
    instruction_tokens: Int64
    section_version: Int64
    section_stop: Int64
    phases: tuple[Float64, Float64]

    def generation(self, question: NDArray[np.bool_], rank: Int64, age: Float64) -> Int64:
        """Return the generation of each request's document or system prompt.

        `age` is 4 * drift * x, with x the request's share of the trace.
        """
        documents, system_prompts = self.phases
        phase = np.empty(len(rank))
        phase[question] = documents[rank[question]]
        phase[~question] = system_prompts[rank[~question]]
        return np.minimum(np.floor(age + phase), REWRITES).astype(np.int64)


def draw_contents(seed: int, documents: int, system_prompts: int, median: int) -> Contents:
    """Draw the lengths of all shared texts: documents around `median`, system prompts 1k to 4k."""
    random = stream(seed, "documents")
    lengths = lognormal_tokens(
        random, median, 0.4, median // 2, 2 * median, documents * GENERATIONS
    )
    instruction = stream(seed, "instructions").integers(8, 65, size=GENERATIONS)
    phases = stream(seed, "phases")
    version, stop = _draw_sections(stream(seed, "system prompts"), system_prompts)
    return Contents(
        document_tokens=lengths.reshape(documents, GENERATIONS),
        instruction_tokens=instruction,
        section_version=version,
        section_stop=stop,
        phases=(phases.random(documents), phases.random(system_prompts)),
    )


def _draw_sections(random: np.random.Generator, count: int) -> tuple[Int64, Int64]:
    """Draw sections of 250 to 1,000 tokens, and the first section that each rewrite replaces."""
    shape = (count, GENERATIONS, SECTIONS)
    tokens = random.integers(250, 1001, size=shape)
    from_section = random.integers(0, SECTIONS, size=(count, GENERATIONS, 1))
    from_section[:, 0] = 0
    rewritten = np.arange(SECTIONS) >= from_section
    generation = np.arange(GENERATIONS)[:, None]
    version = np.maximum.accumulate(np.where(rewritten, generation, 0), axis=1)
    stop = np.cumsum(np.take_along_axis(tokens, version, axis=1), axis=2)
    return version, stop


def question_parts(
    contents: Contents, rank: Int64, generation: Int64, rewrite: Int64, opening: Int64
) -> tuple[Int64, Int64]:
    """Return keys and ends of the shared parts of questions, each shape (questions, 4)."""
    document = rank * GENERATIONS + generation
    instruction = document * GENERATIONS + rewrite
    stop = TEMPLATE_TOKENS + contents.document_tokens[rank, generation]
    instructed = stop + contents.instruction_tokens[rewrite]
    keys = [
        np.broadcast_to(key(_TEMPLATE, 0), rank.shape),
        key(_DOCUMENT, document),
        key(_INSTRUCTION, instruction),
        key(_QUESTION_OPENING, instruction * OPENINGS + opening),
    ]
    begun = instructed + opening + 1
    stops = [np.full_like(rank, TEMPLATE_TOKENS), stop, instructed, begun]
    return np.stack(keys, axis=1), np.stack(stops, axis=1)


def section_parts(contents: Contents, rank: Int64, generation: Int64) -> tuple[Int64, Int64]:
    """Return keys and ends of the sections of system prompts, each shape (requests, 4).

    A section's version also identifies all sections before it, since a rewrite replaces all
    sections after the first one that it changes.
    """
    version = contents.section_version[rank, generation]
    keys = np.stack(
        [key(_SECTION + at, rank * GENERATIONS + version[:, at]) for at in range(SECTIONS)], axis=1
    )
    return keys, contents.section_stop[rank, generation]


def opened(keys: Int64, stops: Int64, opening: Int64) -> tuple[Int64, Int64]:
    """Append the opening of a user's turn to the sections of a system prompt."""
    number = (keys[:, -1:] & ((1 << 56) - 1)) * OPENINGS + opening[:, None]
    begun = stops[:, -1:] + opening[:, None] + 1
    return np.hstack([keys, key(_OPENING, number)]), np.hstack([stops, begun])


def ended(keys: Int64, stops: Int64, request: Int64, tokens: Int64) -> tuple[Int64, Int64]:
    """Append to each prompt the part that no other shares."""
    rest = key(_REST, request)[:, None]
    return np.hstack([keys, rest]), np.hstack([stops, stops[:, -1:] + tokens[:, None]])
