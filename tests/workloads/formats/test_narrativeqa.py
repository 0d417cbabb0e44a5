from __future__ import annotations

import gzip

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

STORY = "Call me Ishmael, he said."
ASKED = [f" Question: {question} Answer:" for question in ("Who, he?", "Why?", "What?")]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "narrativeqa"
    (path / "tmp").mkdir(parents=True)
    (path / "documents.csv").write_text(
        "document_id,set,kind,story_word_count\na1,train,gutenberg,5\nb2,train,movie,7\n"
    )
    (path / "qaps.csv").write_text(
        "document_id,set,question,answer1,answer2\n"
        'a1,train,"Who, he?",Ishmael,X\n'
        "b2,train,Why?,,\n"
        "a1,train,What?,Nothing,\n"
    )
    (path / "tmp" / "a1.content").write_text(STORY)
    return path


def opened(path, **options):
    trace = open_trace(path, **options)
    assert trace.problem() is None
    return trace


def test_stories_and_questions_make_prompts(folder):
    (folder / "b2.txt").write_bytes(gzip.compress(b"Once"))
    assert format_of(folder) == "narrativeqa"
    trace = opened(folder, tokenizer="bytes")
    prompts = [STORY + ASKED[0], "Once" + ASKED[1], STORY + ASKED[2]]
    assert trace.prompt_tokens.tolist() == [len(prompt) for prompt in prompts]
    assert trace.output_tokens.tolist() == [len(" Ishmael"), 0, len(" Nothing")]
    assert trace.session.tolist() == [0, 1, 0]
    assert [trace.labels[at] for at in trace.label] == ["gutenberg", "movie", "gutenberg"]
    assert trace.arrival_seconds is None
    assert overlaps(trace).tolist() == [0, 0, len(STORY + " Question: Wh")]


def test_words_stand_in_for_a_story_that_is_not_there(folder):
    trace = opened(folder)
    asked = [" Question", ":", " Why", "?", " Answer", ":"]
    assert trace.prompt_tokens[1] == 7 + len(asked)
    anomalies = {anomaly.what: anomaly.count for anomaly in validate(folder)}
    assert anomalies["no-story"] == 1


def test_stories_that_are_not_there_share_nothing(folder):
    (folder / "tmp" / "a1.content").unlink()
    assert overlaps(opened(folder)).tolist()[:2] == [0, 0]
    assert overlaps(opened(folder))[2] > 5


def test_other_tokenizers_need_the_stories(folder):
    with pytest.raises(DataError, match=r"qaps\.csv:3: .*its story in tmp/b2\.content"):
        opened(folder, tokenizer="bytes")
    assert len(opened(folder, tokenizer="bytes", on_bad_line="skip")) == 2


def test_bytes_that_are_no_text_are_replaced_and_noted(folder):
    (folder / "tmp" / "b2.content").write_bytes(b"caf\xe9")
    assert "not-utf8" in {anomaly.what for anomaly in validate(folder, tokenizer="bytes")}
    assert opened(folder, tokenizer="bytes").prompt_tokens[1] == len(
        "caf\ufffd".encode() + b"?" * len(ASKED[1])
    )


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("documents.csv", "a1,train,movie,5", ":4: field 'document_id': expected each story once"),
        ("documents.csv", "../x,train,movie,5", ":4: field 'document_id': expected letters"),
        ("documents.csv", "c3,train,movie,-5", ":4: field 'story_word_count': expected 1 to"),
        ("documents.csv", "c3,train,movie,1.5", ":4: field 'story_word_count': expected 1 to"),
        ("documents.csv", "c3,train", ":4: expected 4 cells"),
        ("qaps.csv", "zz,train,Why?,,", ":5: field 'document_id': expected a story of documents"),
    ],
)
def test_a_bad_line_is_named(folder, name, line, message):
    with (folder / name).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError) as caught:
        opened(folder)
    assert name + message in str(caught.value)
    assert len(opened(folder, on_bad_line="skip")) == 3


def test_a_folder_without_stories_is_one_line(folder):
    (folder / "documents.csv").write_text("document_id,story_word_count\nx,0\n")
    for on_bad_line in ("fail", "skip"):
        with pytest.raises(DataError, match=r"documents\.csv:2: field 'story_word_count'"):
            opened(folder, on_bad_line=on_bad_line)
