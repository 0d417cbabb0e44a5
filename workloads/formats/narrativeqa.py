"""NarrativeQA: questions about books and films, from the folder of its repository.

Source: google-deepmind/narrativeqa: `documents.csv` and `qaps.csv`, and the stories as its script
`download_stories.sh` saves them, `tmp/ID.content`; `ID.content` or `ID.txt` in the folder itself
also work.

- A prompt is the unchanged story and the question: `STORY Question: Q Answer:`. The answer is the
  first of two, `answer1`; unknown where that is empty.
- Requests are in the order of `qaps.csv` and have no times. A story is a session, its kind
  (`gutenberg`, `movie`) the label.
- A missing story is replaced by `story_word_count` tokens that match no other story, which is
  noted. With another tokenizer than `words`, its questions are bad lines instead.
- Bytes that are no UTF-8 are replaced, which is noted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.csv_records import Record, read_csv_records
from workloads.reading.fields import MAX_TOKENS, Problem
from workloads.reading.reader import read_text
from workloads.rows import Rows
from workloads.text.requests import TextRequest, TextRows
from workloads.text.tokenizer import Tokens

DOCUMENTS, QUESTIONS = "documents.csv", "qaps.csv"
PLACES = ("tmp/{}.content", "{}.content", "{}.txt")

_ID = re.compile(r"\w[\w-]{0,99}", re.ASCII)
_COUNT = re.compile(r"\d{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Story:
    number: int
    kind: str | None
    words: int


@dataclass(slots=True)
class _Reader:
    """Reader of a folder, which keeps its stories and collects its rows."""

    path: Path
    texts: TextRows
    stories: dict[str, _Story] = field(default_factory=dict)
    last: tuple[str, str | None] = ("", None)  # id and text of the previous question's story

    def take_story(self, record: Record, number: int) -> Problem | None:
        """Register a story, or return what is wrong with its row."""
        name, words = record["document_id"], record["story_word_count"]
        if not _ID.fullmatch(name):
            return "document_id", "expected letters, digits, '_' and '-'"
        if name in self.stories:
            return "document_id", "expected each story once, found it again"
        if not _COUNT.fullmatch(words) or not 1 <= int(words) <= MAX_TOKENS:
            return "story_word_count", f"expected 1 to {MAX_TOKENS:,} words"
        self.stories[name] = _Story(len(self.stories), record.get("kind") or None, int(words))
        return None

    def take_question(self, record: Record, number: int) -> Problem | None:
        """Add a question as a request, or return what is wrong with its row."""
        name = record["document_id"]
        story = self.stories.get(name)
        if story is None:
            return "document_id", f"expected a story of {DOCUMENTS}, found another"
        asked = f" Question: {record['question']} Answer:"
        text = self._text(name, number)
        if text is not None:
            prompt = self.texts.tokenizer.encode(text + asked)
        elif self.texts.tokenizer.name == "words":
            prompt = np.concatenate([self._unread(story), self.texts.tokenizer.encode(asked)])
            self.texts.rows.note("no-story", number, "the story is absent: its words are counted")
        else:
            where = PLACES[0].format(name)
            return "document_id", f"expected its story in {where}; without, only words count"
        answer = record.get("answer1")
        tokens = self.texts.tokenizer.encode(f" {answer}") if answer else None
        request = TextRequest(number, prompt, tokens, session=name, label=story.kind)
        return self.texts.add(request)

    def _text(self, name: str, number: int) -> str | None:
        if self.last[0] != name:
            self.last = name, self._read(name, number)
        return self.last[1]

    def _read(self, name: str, number: int) -> str | None:
        files = (self.path / place.format(name) for place in PLACES)
        existing = next((file for file in files if file.exists()), None)
        if existing is None:
            return None
        data = read_text(existing)
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.texts.rows.note("not-utf8", number, "bytes of a story are no UTF-8: replaced")
            return data.decode(errors="replace")

    def _unread(self, story: _Story) -> Tokens:
        """Return stand-in tokens that no other story has, one for each word of a missing story."""
        return np.full(story.words, -1 - story.number, dtype=np.int32)


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a folder.

    Raises
    ------
    UsageError
        For an unknown tokenizer.
    """
    reader = _Reader(path, TextRows.of(options))
    rows = reader.texts.rows
    columns = ("document_id", "story_word_count")
    read_csv_records(path / DOCUMENTS, rows, columns, reader.take_story, (*columns, "kind"))
    if not reader.stories:
        raise rows.first_bad or DataError(str(path / DOCUMENTS), "expected stories, found none")
    columns = ("document_id", "question")
    read_csv_records(path / QUESTIONS, rows, columns, reader.take_question, (*columns, "answer1"))
    return reader.texts.finish()


def matches(head: Head) -> bool:
    """Return whether a folder holds the two tables."""
    return DOCUMENTS in head.names and QUESTIONS in head.names


NARRATIVEQA = TraceFormat(
    name="narrativeqa",
    title="the folder of NarrativeQA: questions about books and films, no times",
    read=read,
    matches=matches,
    options=frozenset({"tokenizer"}),
)
