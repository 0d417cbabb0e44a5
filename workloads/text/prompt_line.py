"""Lines with a prompt, under the names that tools give to it, to answers and to their lengths."""

from __future__ import annotations

from typing import Annotated

import msgspec

from workloads.reading.fields import Problem, output_problem
from workloads.reading.time_fields import Timed
from workloads.text.chat_log import LABEL_FIELDS, SESSION_FIELDS, named
from workloads.text.chat_template import Message
from workloads.text.requests import TextRequest, TextRows
from workloads.text.templates import RenderError
from workloads.text.tokenizer import Tokens

PROMPT_FIELDS = ("prompt", "text", "input")
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
OTHER_LENGTH = 0.1  # beyond this, a length that stands beside a text is noted

Name = Annotated[str, msgspec.Meta(max_length=200)]
Said = str | list[Message]


class PromptLine(Timed, gc=False, kw_only=True):
    """A request whose prompt is a text, or messages; the first of several names counts."""

    prompt: Said | None = None
    text: Said | None = None
    input: Said | None = None
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
    session_id: Name | int | None = None
    conversation_id: Name | int | None = None
    chat_id: Name | int | None = None
    thread_id: Name | int | None = None
    label: Name | int | None = None
    type: Name | int | None = None


def add_prompt(texts: TextRows, line: PromptLine, number: int) -> Problem | None:
    """Add the request of a line, or say what is wrong with it.

    A text counts the tokens that it has; a length beside it that differs by over a tenth is
    noted. The length of an answer counts where its text is not there.
    """
    said = named(line, PROMPT_FIELDS)[1]
    if said is None:
        return PROMPT_FIELDS[0], NO_PROMPT
    time_field, time = line.when()
    output_field, output = named(line, OUTPUT_FIELDS)
    try:
        prompt, answer = prompt_tokens(texts, said, number), _answer(texts, line, output)
    except RenderError as error:
        return named(line, PROMPT_FIELDS)[0], str(error)
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
        note_length(texts, number, named(line, LENGTH_FIELDS), len(prompt))
        if answer is not None:
            note_length(texts, number, (output_field, output), len(answer))
    return problem


def prompt_tokens(texts: TextRows, said: Said, number: int) -> Tokens:
    """Return the tokens of a text as it stands, or of messages in the chat template.

    Raises
    ------
    RenderError
        Where the template refuses the messages.
    """
    if isinstance(said, str):
        return texts.tokenizer.encode(said)
    return texts.chat(number, said)[0]


def note_length(texts: TextRows, number: int, told: tuple[str, int | None], tokens: int) -> None:
    """Note a length that is over a tenth from the tokens of the text that it stands beside."""
    field, length = told
    if length is not None and abs(length - tokens) > OTHER_LENGTH * tokens:
        what = "other-output-length" if field in OUTPUT_FIELDS else "other-length"
        detail = f"{field} is over 10 % from the tokens of the text counted here, which count"
        texts.rows.note(what, number, detail)


def _answer(texts: TextRows, line: PromptLine, output: int | None) -> Tokens | None:
    """Return the tokens of the answer, None where its text is not there."""
    text = named(line, ANSWER_FIELDS)[1]
    if text is None or (not text and output):
        return None
    return texts.tokenizer.encode(text)
