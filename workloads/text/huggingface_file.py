"""Tokenizers in a `tokenizer.json`, as written by the Hugging Face library `tokenizers`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from simulator.base.errors import DataError, printable
from workloads.reading.reader import read_text
from workloads.text.patterns import KNOWN
from workloads.text.tokenizer import Tokenizer

_LOOKS_BACK = ("Metaspace", "Prepend", "Strip", "Replace", "prepend_scheme")


def read_huggingface(path: Path) -> Tokenizer:
    """Load a tokenizer from its JSON file, without its truncation and padding.

    Raises
    ------
    DataError
        For a file that holds no usable tokenizer.
    """
    import tokenizers

    text = read_text(path)
    try:
        config = msgspec.json.decode(text)
        loaded = tokenizers.Tokenizer.from_str(text.decode())
    except RecursionError:
        raise DataError(str(path), "is no tokenizer: nested too deeply") from None
    except BaseException as error:
        raise _unusable(path, error) from None
    if (config.get("model") or {}).get("dropout"):
        raise DataError(str(path), "expected no dropout, which makes tokens random", field="model")
    loaded.no_truncation()
    loaded.no_padding()

    def convert(text: str) -> list[int]:
        try:
            return list(loaded.encode(text, add_special_tokens=False).ids)
        except BaseException as error:  # a text that the vocabulary cannot represent
            raise _unusable(path, error) from None

    separable, splits_turns = _separable(config), _splits_turns(config)
    name = printable(path.name)
    return Tokenizer(name, convert, separable=separable, splits_turns=splits_turns)


def _unusable(path: Path, error: BaseException) -> DataError:
    """Return an exception of the library as an error of the file.

    The library raises plain exceptions, and panics, which are no `Exception` and cannot be
    imported.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return DataError(str(path), f"is no usable tokenizer: {printable(str(error))}")


def _separable(config: dict[str, Any]) -> bool:
    """Return whether text can certainly be split between a letter and a space."""
    normalizer = config.get("normalizer") or {"type": "NFC"}
    return (
        normalizer.get("type") == "NFC"
        and _splits_at_spaces(config.get("pre_tokenizer") or {})
        and not any(map(_reaches_beyond, config.get("added_tokens") or []))
    )


def _splits_turns(config: dict[str, Any]) -> bool:
    """Return whether a turn of ChatML can certainly be tokenized on its own."""
    added = config.get("added_tokens") or []
    steps = str([config.get("normalizer"), config.get("pre_tokenizer")])
    return any(token.get("content") == "<|im_start|>" for token in added) and not (
        any(map(_reaches_beyond, added)) or any(what in steps for what in _LOOKS_BACK)
    )


def _splits_at_spaces(step: dict[str, Any]) -> bool:
    """Return whether a pre-tokenizer splits text by one of the known patterns."""
    kind = step.get("type")
    if kind == "Sequence":
        steps = step.get("pretokenizers") or [{}]
        return _splits_at_spaces(steps[0]) and all(map(_adds_nothing, steps[1:]))
    if kind == "ByteLevel":
        return _adds_nothing(step) and step.get("use_regex", True) is True
    pattern = (step.get("pattern") or {}).get("Regex")
    whole = step.get("behavior") == "Isolated" and not step.get("invert")
    return kind == "Split" and whole and pattern in KNOWN


def _adds_nothing(step: dict[str, Any]) -> bool:
    return step.get("type") == "ByteLevel" and step.get("add_prefix_space") is False


def _reaches_beyond(token: dict[str, Any]) -> bool:
    """Return whether an added token may match across a split."""
    flags = ("lstrip", "rstrip", "single_word")
    return any(token.get(flag) for flag in flags) or bool(
        re.search(r"[A-Za-z] ", str(token.get("content", "")))
    )
