"""Regular expressions by which known vocabularies split text before merging bytes.

A file of byte-pair ranks does not contain its pattern. The patterns here are OpenAI's from
`tiktoken_ext.openai_public`, Llama 3's from `llama_models`, and Qwen's from its
`tokenization_qwen.py` and the `tokenizer.json` of Qwen3.5.

With each of them, text can be split between a letter and a space: no alternative matches a letter
followed by a space, and none looks back.
"""

from __future__ import annotations

from dataclasses import dataclass

_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
_CASED = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]")
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_CASED[0]}*{_CASED[1]}+{_ENDINGS}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_CASED[0]}+{_CASED[1]}*{_ENDINGS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
QWEN = (
    rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
QWEN3_5 = (
    rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
)

KNOWN = frozenset({GPT2, CL100K, O200K, QWEN, QWEN3_5})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A known vocabulary: its name, its pattern, and whether text is normalised to NFC first."""

    name: str
    pattern: str
    composes: bool = False


BY_RANKS: dict[int, Vocabulary] = {
    50_256: Vocabulary("GPT-2", GPT2),
    50_280: Vocabulary("GPT-2", GPT2),
    100_256: Vocabulary("cl100k", CL100K),
    128_000: Vocabulary("Llama 3", CL100K),
    151_643: Vocabulary("Qwen", QWEN, composes=True),
    199_998: Vocabulary("o200k", O200K),
    248_044: Vocabulary("Qwen3.5", QWEN3_5, composes=True),
}
"""Vocabularies by their number of ranks."""
