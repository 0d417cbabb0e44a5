"""Lines with a prompt, under the field names that various tools use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workloads.reading.fields import Problem, output_problem, short
from workloads.text.chat_log import LABEL_FIELDS, SESSION_FIELDS, NamedLine, named
from workloads.text.chat_template import Message
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError
from workloads.text.tokenizer import Tokenizer, Tokens

PROMPT_FIELDS = ("prompt", "text", "input")
IDS_FIELD = "prompt_token_ids"
CONTENT_FIELDS = (*PROMPT_FIELDS, IDS_FIELD)
ANSWER_FIELDS = ("response", "completion", "output", "answer", "generated_text")
OUTPUT_FIELDS = (
    "output_tokens",
    "output_length",
    "output_len",
    "expected_output_len",
    "completion_tokens",
)
LENGTH_FIELDS = ("prompt_tokens", "prompt_length", "prompt_len", "input_tokens", "input_length")
NO_PROMPT = "expected 'prompt', 'text' or 'input', found none"
MAX_TOKEN_ID = (1 << 31) - 1
OTHER_LENGTH = 0.1  # a given length that differs from the text's by a larger share is noted

TextOrMessages = str | list[Message]
TextMessagesOrIds = str | list[Message | int]


class PromptLine(NamedLine, gc=False, kw_only=True):
    """A request whose prompt is text, messages or token ids; the first of several names counts."""

    prompt: TextMessagesOrIds | None = None
    text: TextMessagesOrIds | None = None
    input: TextMessagesOrIds | None = None
    prompt_token_ids: list[int] | None = None
    response: str | None = None
    completion: str | None = None
    output: str | None = None
    answer: str | None = None
    generated_text: str | None = None
    output_tokens: int | None = None
    output_length: int | None = None
    output_len: int | None = None
    expected_output_len: int | None = None
    completion_tokens: int | None = None
    prompt_tokens: int | None = None
    prompt_length: int | None = None
    prompt_len: int | None = None
    input_tokens: int | None = None
    input_length: int | None = None


def add_prompt(texts: TextRows, line: PromptLine, number: int) -> Problem | None:
    """Add the request of a line, or return what is wrong with it.

    Lengths are counted in tokens of the text; a given length that differs by over a tenth is noted.
    The given length of an answer is used where its text is missing.
    """
    content_field, content = named(line, CONTENT_FIELDS)
    if content is None:
        return PROMPT_FIELDS[0], NO_PROMPT
    time_field, time = line.when()
    output_field, output = named(line, OUTPUT_FIELDS)
    try:
        prompt = _tokens(texts, content, number)
        answer = _answer(texts, line, output, number)
    except (RenderError, _BadIdsError) as error:
        return content_field, str(error)
    label = named(line, LABEL_FIELDS)[1]
    problem = output_problem(output_field, output or 0) or texts.add(
        TextRequest(
            line=number,
            prompt=prompt,
            answer=answer,
            output_tokens=output or 0,
            time=time,
            time_field=time_field,
            session=named(line, SESSION_FIELDS)[1],
            label=None if label is None else str(label),
        )
    )
    if problem is None:
        texts.rows.unused.add(line.other_times(time_field), number)
        note_length(texts, number, named(line, LENGTH_FIELDS), len(prompt))
        if answer is not None:
            note_length(texts, number, (output_field, output), len(answer))
    return problem


class _BadIdsError(ValueError):
    """Raised for invalid token ids, or a file with both token ids and text."""


def _no_text(_: str) -> Sequence[int]:
    raise _BadIdsError("expected token ids as on the lines before, found text")


IDS = Tokenizer("the file, by its token ids", _no_text)


def _tokens(texts: TextRows, content: TextMessagesOrIds, number: int) -> Tokens:
    """Return the tokens of a prompt; all prompts must be of the first one's kind, text or ids."""
    if isinstance(content, str):
        return prompt_tokens(texts, content, number)
    ids = [part for part in content if isinstance(part, int)]
    messages = [part for part in content if not isinstance(part, int)]
    if not ids and (messages or texts.tokenizer is not IDS):
        return prompt_tokens(texts, messages, number)
    if messages:
        raise _BadIdsError("expected messages or token ids, found both")
    if texts.tokenizer is not IDS and len(texts.rows):
        raise _BadIdsError("expected text as on the lines before, found token ids")
    wrong = next((key for key in ids if not 0 <= key <= MAX_TOKEN_ID), None)
    if wrong is not None:
        raise _BadIdsError(f"expected token ids from 0 to {MAX_TOKEN_ID}, found {short(wrong)}")
    texts.tokenizer = IDS
    return np.array(ids, dtype=np.int32)


def prompt_tokens(texts: TextRows, content: TextOrMessages, number: int) -> Tokens:
    """Return the tokens of a text as it is, or of messages rendered with the chat template.

    Raises
    ------
    RenderError
        For messages that the template refuses.
    """
    if isinstance(content, str):
        return texts.tokenizer.encode(content)
    return texts.chat(number, content)[0]


def note_length(texts: TextRows, number: int, stated: tuple[str, int | None], tokens: int) -> None:
    """Note a given length that differs by over a tenth from the tokens of the text."""
    field, length = stated
    if length is not None and abs(length - tokens) > OTHER_LENGTH * tokens:
        what = "other-output-length" if field in OUTPUT_FIELDS else "other-length"
        detail = f"{field} is over 10 % from the tokens of the text counted here, which count"
        texts.rows.note(what, number, detail)


def _answer(texts: TextRows, line: PromptLine, output: int | None, number: int) -> Tokens | None:
    """Return the tokens of the answer, None if its text is missing or not used."""
    text = named(line, ANSWER_FIELDS)[1]
    if text is None or (not text and output):
        return None
    if texts.tokenizer is IDS:
        detail = "the text of an answer beside token ids is passed over: only its length counts"
        texts.rows.note("answer-text", number, detail)
        return None
    return texts.tokenizer.encode(text)
