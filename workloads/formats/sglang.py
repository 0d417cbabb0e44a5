"""Parameters of SGLang's generated-shared-prefix benchmark, made into requests.

Source: sgl-project/sglang, `bench_serving --dataset-name generated-shared-prefix`. The file is a
JSON object, or TOML, of the benchmark's parameters: `gsp-num-groups = 64` and so on, with `-` or
`_`. Missing ones have the benchmark's defaults. Other parameters are ignored, except `seed` and
`request-rate`.

- Each group has a system prompt, and each of its prompts adds a question of its own. With
  `gsp-range-ratio` r below 1, lengths are uniform from r times the length to the length. The
  distributions are those of the benchmark, the random numbers are not. The seed of the options
  overrides that of the file.
- Prompts are shuffled unless `gsp-ordered` is true. With `gsp-num-turns`, each prompt starts a
  session: a turn is the context, answers included, and one more question.
- With a finite `request-rate`, sessions start as a Poisson process, and later turns arrive as
  described in `workloads.sessions.closed_loop`; without one there are no times.
- Separators between the parts, a few tokens, are left out.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from simulator.base.errors import DataError, did_you_mean, printable
from simulator.trace.prefix_tree import ROOT
from workloads.formats.format import Head, TraceFormat
from workloads.gaps import poisson_arrivals
from workloads.instants import Ticks
from workloads.options import ReadOptions
from workloads.prefixes.prompt_tree import PromptTree
from workloads.randomness import stream
from workloads.reading.json_lines import explain
from workloads.reading.reader import read_text
from workloads.rows import Rows
from workloads.sessions.closed_loop import note_closed_loop, turn_ticks

MAX_REQUESTS = 1_000_000

Count = Annotated[int, msgspec.Meta(ge=1, le=MAX_REQUESTS)]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**8)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Int64 = NDArray[np.int64]


class _Parameters(msgspec.Struct, frozen=True):
    gsp_num_groups: Count = 64
    gsp_prompts_per_group: Count = 16
    gsp_system_prompt_len: Tokens = 2048
    gsp_question_len: Tokens = 128
    gsp_output_len: Tokens = 256
    gsp_range_ratio: Share = 1.0
    gsp_num_turns: Count = 1
    gsp_ordered: bool = False
    seed: Seed = 1
    request_rate: float | str | None = None

    @property
    def sessions(self) -> int:
        return self.gsp_num_groups * self.gsp_prompts_per_group

    def problem(self) -> tuple[str, str] | None:
        """Return the first problem with the combination of parameters, or None."""
        if self.sessions * self.gsp_num_turns > MAX_REQUESTS:
            return "gsp_num_groups", f"expected at most {MAX_REQUESTS:,} requests in all"
        if self.gsp_system_prompt_len + self.gsp_question_len == 0:
            return "gsp_question_len", "expected prompts of at least one token"
        rate = self.request_rate
        if rate in (None, "inf") or (isinstance(rate, float) and 1e-6 <= rate <= 1e6):
            return None
        return "request_rate", "expected inf, or 0.000001 to 1,000,000 requests/s"

    def starts(self, seed: int) -> list[float] | None:
        """Return the start of each session in seconds, None if there is no rate."""
        if not isinstance(self.request_rate, float):
            return None
        times: list[float] = poisson_arrivals(self.sessions, self.request_rate, seed).tolist()
        return times


def read(path: Path, options: ReadOptions) -> Rows:
    """Generate the requests; raise `DataError` for unknown or invalid parameters."""
    parameters, unused = _parse(path)
    problem = parameters.problem()
    if problem is not None:
        raise DataError(str(path), problem[1], field=problem[0])
    tree = PromptTree()
    rows = Rows(tree, options.on_bad_line)
    rows.unused.add(unused, None, "times")
    seed = parameters.seed if options.seed is None else options.seed
    _generate(parameters, rows, tree, seed)
    return rows


def _parse(path: Path) -> tuple[_Parameters, list[str]]:
    """Return the parameters, and the names of those that are ignored."""
    text = read_text(path)
    try:
        plain = msgspec.json.decode(text) if text[:1] == b"{" else tomllib.loads(text.decode())
        named, unused = _named(path, plain)
        return msgspec.convert(named, _Parameters), unused
    except msgspec.ValidationError as error:
        field, what = explain(str(error))
        raise DataError(str(path), what, field=field) from None
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = printable(str(error))
        raise DataError(str(path), f"expected parameters in JSON or TOML, found {reason}") from None
    except RecursionError:
        raise DataError(str(path), "expected parameters, found some nested too deeply") from None


def _named(path: Path, plain: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return known parameters by name, and the names of other parameters.

    Raises `DataError` for an unknown parameter that begins with gsp.
    """
    known = {f.name for f in msgspec.structs.fields(_Parameters)}
    named: dict[str, Any] = {}
    for key, value in plain.items():
        name = key.lstrip("-").replace("-", "_")
        if name.startswith("gsp_") and name not in known:
            hint = did_you_mean(name, sorted(known))
            raise DataError(str(path), f"unknown parameter '{printable(key, 40)}'{hint}")
        if name in named:
            raise DataError(str(path), "expected each parameter once, found it twice", field=name)
        named[name] = value
    if not any(name.startswith("gsp_") for name in named):
        raise DataError(str(path), "expected parameters that begin with gsp-, found none")
    unused = [name for name in named if name not in known]
    return {name: value for name, value in named.items() if name in known}, unused


def _lengths(parameters: _Parameters, seed: int, part: str, shape: tuple[int, ...]) -> Int64:
    most = getattr(parameters, f"gsp_{part}_len")
    if not most:
        return np.zeros(shape, dtype=np.int64)
    least = max(math.floor(most * parameters.gsp_range_ratio), 1)
    return stream(seed, f"lengths of {part}").integers(least, most + 1, size=shape)


def _generate(parameters: _Parameters, rows: Rows, tree: PromptTree, seed: int) -> None:
    """Add the turns of all sessions, in the order of time where there are times."""
    starts = parameters.starts(seed)
    turns: list[_Turn] = []
    for place, session in enumerate(_sessions(parameters, tree, seed)):
        turns += _turns(tree, session, 0.0 if starts is None else starts[place])
    if starts is not None:
        turns.sort(key=lambda turn: turn.seconds)
    many = parameters.gsp_num_turns > 1
    for turn in turns:
        tree.add(turn.leaf, turn.after)
        seconds, session_name = turn.seconds, turn.session if many else None
        output = tree.stop[turn.after] - tree.stop[turn.leaf]
        time = None if starts is None else seconds
        rows.add(1, tree.stop[turn.leaf], output, time, session_name)
        if turn.follows and starts is not None:
            note_closed_loop(rows, 1)


class _Session(NamedTuple):
    number: int
    group: int  # the node at which its system prompt ends
    questions: list[int]
    answer: int


class _Turn(NamedTuple):
    seconds: Ticks
    leaf: int
    after: int
    session: int
    follows: bool


def _sessions(parameters: _Parameters, tree: PromptTree, seed: int) -> Iterator[_Session]:
    """Yield the sessions with the lengths of their turns, in the order in which they start."""
    shape = parameters.sessions, parameters.gsp_num_turns
    systems = _lengths(parameters, seed, "system_prompt", (parameters.gsp_num_groups,))
    questions = _lengths(parameters, seed, "question", shape).tolist()
    answers = _lengths(parameters, seed, "output", shape[:1]).tolist()
    groups = [tree.extend(ROOT, tokens) for tokens in systems.tolist()]
    order = np.arange(parameters.sessions)
    if not parameters.gsp_ordered:
        stream(seed, "order of prompts").shuffle(order)
    for number in order.tolist():
        group = groups[number // parameters.gsp_prompts_per_group]
        yield _Session(number, group, questions[number], answers[number])


def _turns(tree: PromptTree, session: _Session, start: float) -> Iterator[_Turn]:
    count, context = len(session.questions), session.group
    times = turn_ticks(start, [session.answer] * count, [0.0] * count, ticks_per_second=1.0)
    for at, (seconds, question) in enumerate(zip(times, session.questions, strict=True)):
        leaf = tree.extend(context, question)
        context = tree.extend(leaf, session.answer)
        yield _Turn(seconds, leaf, context, session.number, follows=at > 0)


def matches(head: Head) -> bool:
    """Return whether there is a parameter of the benchmark, in JSON or at the start of a line."""
    if head.record is not None:
        return any(_is_own(key) for key in head.record)
    return any(_is_own(line.decode(errors="replace")) for line in head.text.splitlines()[:100])


def _is_own(key: str) -> bool:
    return key.lstrip('-" ').replace("-", "_").startswith("gsp_")


SGLANG = TraceFormat(
    name="sglang",
    title="SGLang generated-shared-prefix parameters (JSON or TOML), made into requests",
    read=read,
    matches=matches,
    options=frozenset({"seed"}),
)
