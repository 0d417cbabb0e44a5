"""QuALITY in JSON lines: questions about long articles.

Source: nyu-mll/quality, the files `QuALITY.v1.0.1[.htmlstripped].{train,dev,test}`. A line is an
article and the questions of one writer, so that two lines share an article. Copies with one
question a line are read too.

- A prompt is the article, the question and its options, as in the published experiments on prefix
  caches (Shirokikh and Nikolenko, 2026): `ARTICLE Question: Q Options: (A) .. (D) .. Answer:`. The
  answer is the option numbered `gold_label`, from 1; unknown where there is none.
- Requests are in the order of the file and have no times; an article is a session.
- A question without options is kept without them, and noted.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import Problem
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.text.requests import TextRequest, TextRows


class _Question(msgspec.Struct, gc=False):
    question: str
    options: list[str] = []
    gold_label: int | None = None


class _Line(msgspec.Struct, gc=False):
    article_id: str | int
    article: str
    questions: list[_Question] | None = None
    question: str | None = None
    options: list[str] = []
    gold_label: int | None = None

    def asked(self) -> list[_Question]:
        """Return the questions of the line."""
        if self.questions is None and self.question is not None:
            return [_Question(self.question, self.options, self.gold_label)]
        return self.questions or []


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    texts = TextRows.of(options)
    encode = texts.tokenizer.encode

    def take(line: _Line, number: int) -> Problem | None:
        asked = line.asked()
        if line.questions is None and not asked:
            return "questions", "expected this field, found none"
        problem = next(filter(None, map(_problem, asked)), None)
        if problem is not None:
            return problem
        if not asked:
            texts.rows.note("no-questions", number, "an article without a question: left out")
        for question in asked:
            if not question.options:
                texts.rows.note("no-options", number, "a question without options")
            answer = _answer(question)
            tokens = None if answer is None else encode(answer)
            prompt = encode(_prompt(line.article, question))
            texts.add(TextRequest(number, prompt, tokens, session=str(line.article_id)))
        return None

    read_json_lines(path, texts.rows, _Line, take)
    return texts.finish()


def _prompt(article: str, asked: _Question) -> str:
    options = " ".join(f"({chr(ord('A') + at)}) {text}" for at, text in enumerate(asked.options))
    listed = f" Options: {options}" if options else ""
    return f"{article} Question: {asked.question}{listed} Answer:"


def _answer(asked: _Question) -> str | None:
    return None if asked.gold_label is None else f" {asked.options[asked.gold_label - 1]}"


def _problem(asked: _Question) -> Problem | None:
    label, count = asked.gold_label, len(asked.options)
    if label is None or 1 <= label <= count:
        return None
    return "gold_label", f"expected an option from 1 to {count}, found {label}"


def matches(head: Head) -> bool:
    """Return whether there are articles with an id; the questions may be too far in to be seen."""
    return head.has("article_id", "article")


QUALITY = TraceFormat(
    name="quality",
    title="QuALITY JSON lines: an article and the questions about it, no times",
    read=read,
    matches=matches,
    options=frozenset({"tokenizer"}),
)
