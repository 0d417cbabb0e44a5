from __future__ import annotations

import numpy as np
import pytest

from workloads.text import tokenizer_for
from workloads.text.histories import MOST_UNKNOWN, Histories
from workloads.text.templates import template_for


@pytest.fixture
def histories():
    return Histories(tokenizer_for("bytes").encode)


def test_a_turn_goes_on_behind_the_answer_before(histories):
    histories.say("s", "system", "Be kind")
    first, answer = histories.ask("s", "user", "One", 3)
    second, _ = histories.ask("s", "user", "Two", 0)
    text = bytes(first.astype(np.uint8)).decode()
    assert text == (
        "<|im_start|>system\nBe kind<|im_end|>\n"
        "<|im_start|>user\nOne<|im_end|>\n<|im_start|>assistant\n"
    )
    assert second[: len(first)].tolist() == first.tolist()
    assert second[len(first) : len(first) + 3].tolist() == answer.tolist()
    assert bytes(second[len(first) + 3 :].astype(np.uint8)).startswith(b"<|im_end|>\n")


def test_another_template_puts_answers_where_it_has_them():
    histories = Histories(tokenizer_for("bytes").encode, template_for("qwen3.5"))
    first, answer = histories.ask("s", "user", "One", 3)
    second, _ = histories.ask("s", "user", "Two", 2)
    begun = b"<|im_start|>user\nOne<|im_end|>\n<|im_start|>assistant\n"
    assert bytes(first.astype(np.uint8)) == begun + b"<think>\n"
    assert second[: len(begun)].tolist() == first[: len(begun)].tolist()
    assert second[len(begun) : len(begun) + 3].tolist() == answer.tolist()


def test_a_text_cannot_pass_for_an_answer(histories):
    mark = "\U0010fffd"
    histories.ask("s", "user", "One", 3)
    prompt, _ = histories.ask("s", "user", f"{mark}0{mark}{mark}9{mark}", 3)
    assert np.count_nonzero(prompt >= 1 << 30) == 3


def test_answers_have_no_token_in_common_with_texts_or_each_other(histories):
    prompt, one = histories.ask(None, "user", "One", 5)
    again, other = histories.ask(None, "user", "One", 5)
    assert prompt.tolist() == again.tolist()
    assert not set(one.tolist()) & {*other.tolist(), *prompt.tolist()}
    assert one.min() >= 1 << 30


def test_too_many_tokens_of_answers_are_refused(histories):
    histories.unknown = MOST_UNKNOWN - 1
    histories.ask(None, "user", "One", 1)
    with pytest.raises(ValueError, match="tokens of answers in one file"):
        histories.ask(None, "user", "One", 1)
