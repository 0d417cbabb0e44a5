"""Both kinds of file, made of one tiny vocabulary, against each other."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.base.errors import DataError
from workloads.text import tokenizer_for
from workloads.text.patterns import CL100K

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is absent")
pytest.importorskip("tiktoken", reason="the package tiktoken is absent")

PAIRS = [(b"h", b"e"), (b"he", b"l"), (b" ", b"t"), (b" t", b"he"), (b"1", b"2"), (b"\n", b"\n")]
MERGES = [left + right for left, right in PAIRS]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
BYTE_LEVEL |= {"use_regex": True}
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def visible():
    """Return the characters that stand for bytes in a Hugging Face file."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {
        byte: chr(256 + at) for at, byte in enumerate(others)
    }


def ranks_text(merges=MERGES):
    tokens = [bytes([byte]) for byte in range(256)] + merges
    lines = [f"{base64.b64encode(token).decode()} {at}" for at, token in enumerate(tokens)]
    return "\n".join(lines) + "\n"


def huggingface_config():
    shown = visible()

    def name(token):
        return "".join(shown[byte] for byte in token)

    vocabulary = {name(bytes([byte])): byte for byte in range(256)}
    vocabulary |= {name(token): 256 + at for at, token in enumerate(MERGES)}
    merges = [(name(left), name(right)) for left, right in PAIRS]
    model = tokenizers.models.BPE(vocab=vocabulary, merges=merges)
    built = tokenizers.Tokenizer(model)
    built.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(CL100K), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    built.add_special_tokens(MARKS)
    return json.loads(built.to_str())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabularies")
    (folder / "tiny.tiktoken").write_text(ranks_text())
    (folder / "tokenizer.json").write_text(json.dumps(huggingface_config()))
    return folder


@pytest.fixture(scope="module")
def tiktoken_file(files):
    return tokenizer_for(str(files / "tiny.tiktoken"))


@pytest.fixture(scope="module")
def huggingface_file(files):
    return tokenizer_for(str(files / "tokenizer.json"))


def test_merges_are_made_in_order(tiktoken_file):
    tokens = tiktoken_file.encode("hell the 123").tolist()
    assert tokens == [257, ord("l"), 259, ord(" "), 260, ord("3")]
    assert tiktoken_file.encode("<|im_start|>h<|im_end|>").tolist() == [263, ord("h"), 264]


parts = st.sampled_from([*MARKS, " the", "hell", "don't ", "\n\n ", "  12"]) | st.text(max_size=9)


@given(st.lists(parts).map("".join))
def test_both_files_give_the_same_tokens(tiktoken_file, huggingface_file, text):
    assert tiktoken_file.encode(text).tolist() == huggingface_file.encode(text).tolist()


@given(st.lists(parts).map("".join))
def test_texts_may_be_cut_where_the_files_say(tiktoken_file, huggingface_file, text):
    for whole in (tiktoken_file, huggingface_file):
        assert whole.separable
        expected = list(whole.convert(text))
        for at in range(1, len(text)):
            if text[at] == " " and text[at - 1].isascii() and text[at - 1].isalpha():
                assert [*whole.convert(text[:at]), *whole.convert(text[at:])] == expected


def test_names_say_what_was_read(tiktoken_file, huggingface_file):
    assert tiktoken_file.name == "tiny.tiktoken (262 ranks of an unknown model, split like cl100k)"
    assert huggingface_file.name == "tokenizer.json"
    assert not tiktoken_file.stand_in
    assert not huggingface_file.stand_in


def changed(**entries):
    return json.dumps(huggingface_config() | entries)


def test_limits_of_length_and_padding_do_not_count(tmp_path):
    limits = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 99}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "!"}
    path = tmp_path / "tokenizer.json"
    path.write_text(changed(truncation=limits, padding=padding))
    assert len(tokenizer_for(str(path)).encode("abcdefghij")) == 10


@pytest.mark.parametrize(
    "entries",
    [
        {"normalizer": {"type": "Lowercase"}},
        {"pre_tokenizer": None},
        {"pre_tokenizer": BYTE_LEVEL | {"add_prefix_space": True}},
        {"pre_tokenizer": BYTE_LEVEL | {"use_regex": False}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"added_tokens": [{"id": 262, "content": "<|a b|>"}]},
        {"added_tokens": [{"id": 262, "content": "ab", "rstrip": True}]},
    ],
)
def test_texts_are_not_cut_where_that_is_not_certain(tmp_path, entries):
    flags = {"single_word": False, "lstrip": False, "rstrip": False}
    flags |= {"normalized": False, "special": True}
    for token in entries.get("added_tokens", []):
        token.update(flags | token)
    path = tmp_path / "tokenizer.json"
    path.write_text(changed(**entries))
    assert not tokenizer_for(str(path)).separable


def test_turns_may_be_cut_where_their_mark_is_a_token_of_its_own(tmp_path):
    path = tmp_path / "tokenizer.json"
    metaspace = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}
    for entries, expected in (
        ({"pre_tokenizer": {"type": "Whitespace"}}, True),
        ({"pre_tokenizer": metaspace | {"split": True}}, False),
        ({"pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}, False),
    ):
        path.write_text(changed(**entries))
        tokenizer = tokenizer_for(str(path))
        assert not tokenizer.separable
        assert tokenizer.splits_turns == expected


def test_a_byte_level_file_may_be_cut(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(changed(pre_tokenizer=BYTE_LEVEL))
    assert tokenizer_for(str(path)).separable


def bad_huggingface_files():
    model = huggingface_config()["model"]
    yield "{", "is no usable tokenizer"
    yield "{}", "is no usable tokenizer"
    yield '{"model": ' + "[" * 100_000, "is no "
    yield changed(model=model | {"dropout": 0.5}), "expected no dropout"
    yield changed(model=model | {"type": "Magic"}), "is no usable tokenizer"


@pytest.mark.parametrize(("text", "message"), list(bad_huggingface_files()))
def test_a_bad_huggingface_file_is_one_line(tmp_path, text, message):
    path = tmp_path / "tokenizer.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        tokenizer_for(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_text_that_a_vocabulary_cannot_hold_is_one_line(tmp_path):
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}
    path = tmp_path / "tokenizer.json"
    path.write_text(changed(model=model, pre_tokenizer=None, added_tokens=[]))
    with pytest.raises(DataError, match="is no usable tokenizer: WordLevel") as caught:
        tokenizer_for(str(path)).encode("b")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("what is this\n", ":1: expected a token in base64 and its rank"),
        ("YQ==\n", ":1: expected a token in base64 and its rank"),
        ("YQ== 1.5\n", ":1: expected a token in base64 and its rank"),
        ("YQ== -1\n", ":1: expected a token in base64 and its rank"),
        ("YQ== 99999999999\n", ":1: expected a token in base64 and its rank"),
        (" 1\n", ":1: expected a token in base64 and its rank"),
        ("YQ== 0\nYQ== 1\n", ":2: expected each token once"),
        ("YQ== 0\nYg== 0\n", "expected each rank once"),
        ("YQ== 0\n", "found none for 0x00"),
    ],
)
def test_a_bad_file_of_ranks_is_one_line(tmp_path, text, message):
    path = tmp_path / "t.tiktoken"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        tokenizer_for(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
