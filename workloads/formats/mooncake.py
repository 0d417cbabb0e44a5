"""Mooncake-style JSON lines: lengths, a time in milliseconds, and ids of prefixes.

Source: the traces released with Qin et al., "Mooncake", FAST 2025. Equal ids mean an equal
prefix up to and including that block; the last block may be partial.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec

from simulator.errors import DataError, printable
from workloads.reader import read_lines
from workloads.rows import MAX_KEYS, OnBadLine, Rows

BLOCK_TOKENS = 512
MAX_TOKENS = 10**9  # of one prompt or output
MAX_TIME_MS = 1e16  # beyond any epoch in milliseconds, or even in microseconds

_WORDS = {"object": "one JSON object", "float | null": "a number", "int": "a whole number"}

Name = Annotated[str, msgspec.Meta(max_length=200)]
Problem = tuple[str | None, str]  # the field at fault, what was expected and found


class _Line(msgspec.Struct, gc=False):
    input_length: int
    hash_ids: list[int]
    output_length: int = 0
    timestamp: float | None = None
    session_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


def read_mooncake(path: Path, block: int | None, on_bad_line: OnBadLine) -> Rows:
    """Read a file, plain or gzip, with `block` tokens a block (512 where not given).

    Times must be on all lines or on none. A line may name fewer blocks than its prompt holds,
    not more.

    Raises
    ------
    DataError
        For the first bad line, unless they are skipped, and for a file without any line.
    """
    rows = Rows(BLOCK_TOKENS if block is None else block, on_bad_line, ticks_per_second=1000)
    decode = msgspec.json.Decoder(_Line).decode
    for number, text in read_lines(path):
        problem = _take(rows, decode, number, text)
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(path), what, line=number, field=field))
    if not len(rows) and not rows.bad_lines:
        raise DataError(str(path), "expected JSON lines, found an empty file")
    return rows


def _take(rows: Rows, decode: Callable[[bytes], _Line], number: int, text: bytes) -> Problem | None:
    """Add one line to the rows, or say what is wrong with it and add nothing."""
    try:
        line = decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _not_finite(text) or _explain(str(error))
    except RecursionError:
        return None, "expected a JSON object, found one nested too deeply"
    problem = _length_problem(line, rows.block) or _time_problem(line, rows)
    if problem is not None:
        return problem
    try:
        rows.keys.extend(line.hash_ids)
    except OverflowError:
        del rows.keys[rows.ends[-1] if rows.ends else 0 :]
        return _id_problem(line.hash_ids)
    if len(rows.keys) > MAX_KEYS:
        return "hash_ids", f"expected at most {MAX_KEYS:,} ids in one file"
    _add(rows, line, number)
    return None


def _add(rows: Rows, line: _Line, number: int) -> None:
    rows.ends.append(len(rows.keys))
    rows.prompt_tokens.append(line.input_length)
    rows.output_tokens.append(line.output_length)
    if line.timestamp is not None:
        rows.time_ticks.append(line.timestamp)
    rows.session.append(rows.session_number(line.session_id))
    label = line.type if line.label is None else line.label
    rows.label.append(rows.label_number(None if label is None else str(label)))
    rows.line.append(number)


def _length_problem(line: _Line, block: int) -> Problem | None:
    length = line.input_length
    if not 1 <= length <= MAX_TOKENS:
        return "input_length", f"expected 1 to {MAX_TOKENS:,} tokens, found {_short(length)}"
    if not 0 <= line.output_length <= MAX_TOKENS:
        found = _short(line.output_length)
        return "output_length", f"expected 0 to {MAX_TOKENS:,} tokens, found {found}"
    blocks = -(-length // block)
    if len(line.hash_ids) > blocks:
        fit = f"at most {blocks} for {length} tokens in blocks of {block}"
        return "hash_ids", f"expected {fit}, found {len(line.hash_ids)} (is the block size right?)"
    return None


def _time_problem(line: _Line, rows: Rows) -> Problem | None:
    time = line.timestamp
    if len(rows) and (time is None) == bool(rows.time_ticks):
        found = "found none here" if time is None else "found one here and none before"
        return "timestamp", f"expected a time on every line or on none, {found}"
    if time is not None and not 0 <= time <= MAX_TIME_MS:
        return "timestamp", f"expected 0 to {MAX_TIME_MS:g} ms, found {time:g}"
    return None


def _id_problem(ids: list[int]) -> Problem:
    at, found = next((at, key) for at, key in enumerate(ids) if not 0 <= key < 1 << 64)
    return f"hash_ids[{at}]", f"expected an integer from 0 to 2**64 - 1, found {_short(found)}"


def _short(number: int) -> str:
    """Return a number for a message, however many digits it has."""
    return printable(str(number), 40)


def _not_finite(text: bytes) -> Problem | None:
    """Say which field of a line that is no JSON holds NaN or an infinity, which Python writes."""
    named = re.search(rb'"(\w{1,60})"\s*:\s*\[?[^"\]}]{0,1000}?(-?Infinity|NaN)\b', text)
    if named is None:
        return None
    return named[1].decode(), f"expected a finite number, found {named[2].decode()}"


def _explain(said: str) -> Problem:
    """Turn a decoder's message into the field at fault and what was expected and found."""
    what, _, place = said.partition(" - at `$")
    missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
    if missing:
        return missing[1], "expected this field, found none"
    typed = re.fullmatch(r"Expected `(.+)`, got `(.+)`", what)
    if typed:
        what = f"expected {_WORDS.get(typed[1], typed[1])}, found {typed[2]}"
    elif "out of range" in what:
        what = f"expected a number within range, found another ({what.lower()})"
    elif not place:
        what = f"expected one JSON object, found a broken line: {what}"
    return place.strip("`.") or None, what
