"""Files of byte-pair ranks: each line is a token's bytes in base64, and its rank."""

from __future__ import annotations

import base64
import unicodedata
from pathlib import Path

from simulator.base.errors import DataError, printable
from workloads.reading.reader import read_lines
from workloads.text.patterns import BY_RANKS, CL100K, Vocabulary
from workloads.text.tokenizer import Tokenizer

MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MAX_RANK = (1 << 31) - 1 - len(MARKS)


def read_tiktoken(path: Path) -> Tokenizer:
    """Load a tokenizer from its ranks.

    The pattern that splits text is chosen by the number of ranks, where it is that of a known
    vocabulary; otherwise it is that of cl100k, which the name mentions. The special tokens of
    ChatML are one token each.

    Raises
    ------
    DataError
        For a file of another kind.
    """
    import tiktoken

    ranks = _read_ranks(path)
    known = BY_RANKS.get(len(ranks)) or Vocabulary("an unknown model, split like cl100k", CL100K)
    after = max(ranks.values()) + 1
    try:
        encoding = tiktoken.Encoding(
            printable(path.name),
            pat_str=known.pattern,
            mergeable_ranks=ranks,
            special_tokens={mark: after + at for at, mark in enumerate(MARKS)},
        )
    except ValueError as error:
        raise DataError(str(path), f"is no usable vocabulary: {printable(str(error))}") from None
    marks = frozenset(MARKS)

    def convert(text: str) -> list[int]:
        text = unicodedata.normalize("NFC", text) if known.composes else text
        return encoding.encode(text, allowed_special=marks, disallowed_special=())

    name = f"{printable(path.name)} ({len(ranks):,} ranks of {known.name})"
    return Tokenizer(name, convert, separable=True)


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for number, line in read_lines(path):
        token, rank = _read_rank(path, line, number)
        if token in ranks:
            raise DataError(str(path), "expected each token once, found it again", line=number)
        ranks[token] = rank
    if len(set(ranks.values())) != len(ranks):
        raise DataError(str(path), "expected each rank once, found one again")
    missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise DataError(
            str(path), f"expected a rank for each of the 256 bytes, found none for 0x{missing:02x}"
        )
    return ranks


def _read_rank(path: Path, line: bytes, number: int) -> tuple[bytes, int]:
    token, _, rank = line.partition(b" ")
    try:
        entry = base64.b64decode(token, validate=True), int(rank)
    except ValueError:
        entry = b"", -1
    if not entry[0] or not rank.isdigit() or entry[1] > MAX_RANK:
        what = "expected a token in base64 and its rank (a tiktoken file), found something else"
        raise DataError(str(path), what, line=number)
    return entry
