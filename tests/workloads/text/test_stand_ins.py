from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.text import tokenizer_for


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two three", 3),
        ("one, two.", 4),
        ("2024", 4),
        ("漢字かな", 4),
        ("привет", 6),
        ("snake_case", 3),
        ("a  b", 3),
        ("a\n\nb", 3),
        ("    return x", 3),
        ("<|im_start|>user\nHi<|im_end|>\n", 6),
        ("!?...", 1),
        ("", 0),
        ("\x00\x01", 1),
    ],
)
def test_words_are_counted_as_the_docstring_says(text, count):
    assert len(tokenizer_for("words").encode(text)) == count


@given(st.text())
def test_bytes_are_those_of_utf8(text):
    assert bytes(tokenizer_for("bytes").encode(text).astype("u1")) == text.encode(errors="replace")


@given(st.lists(st.text(max_size=9), max_size=9))
def test_equal_words_are_equal_tokens_and_others_differ(parts):
    words = tokenizer_for("words")
    seen: dict[tuple[int, ...], str] = {}
    for part in parts:
        assert seen.setdefault(tuple(words.encode(part).tolist()), part) == part


def test_stand_ins_say_that_they_are():
    for name in ("words", "bytes"):
        stand_in = tokenizer_for(name)
        assert stand_in.stand_in
        assert stand_in.remark().startswith(f"tokens are {name}, a stand-in")
    assert tokenizer_for(None).name == "words"
