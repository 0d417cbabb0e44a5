from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

WHO = {"question": "Who?", "options": ["He", "She", "It", "None"], "gold_label": 2}
WHY = {"question": "Why?", "options": ["So", "No", "?", "!"]}


@pytest.fixture
def write(tmp_path):
    def write(*records):
        path = tmp_path / "quality.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def line(article_id, article, *questions):
    return {"article_id": article_id, "article": article, "questions": list(questions)}


def opened(path, **options):
    trace = open_trace(path, tokenizer="bytes", **options)
    assert trace.problem() is None
    return trace


def test_lines_that_share_an_article_share_its_tokens(write):
    path = write(
        line("7", "A tale.", WHO, WHY), line("8", "Another.", WHY), line("7", "A tale.", WHY)
    )
    assert format_of(path) == "quality"
    trace = opened(path)
    who = "A tale. Question: Who? Options: (A) He (B) She (C) It (D) None Answer:"
    why = "A tale. Question: Why? Options: (A) So (B) No (C) ? (D) ! Answer:"
    other = why.replace("A tale.", "Another.")
    assert trace.prompt_tokens.tolist() == [len(who), len(why), len(other), len(why)]
    assert trace.output_tokens.tolist() == [len(" She"), 0, 0, 0]
    assert trace.session.tolist() == [0, 0, 1, 0]
    assert trace.arrival_seconds is None
    assert overlaps(trace).tolist() == [0, len("A tale. Question: Wh"), 1, len(why)]
    assert trace.after is not None
    assert trace.tree.stop[trace.after[0]] == len(who + " She")


def test_files_with_one_question_a_line_are_the_same(write):
    whole = opened(write(line("7", "A tale.", WHO, WHY)))
    flat = opened(
        write(*({"article_id": "7", "article": "A tale."} | asked for asked in (WHO, WHY)))
    )
    assert flat.prompt_tokens.tolist() == whole.prompt_tokens.tolist()
    assert flat.output_tokens.tolist() == whole.output_tokens.tolist()


def test_long_articles_are_recognised_before_their_questions_are_seen(write):
    assert format_of(write(line("7", "word " * 50_000, WHO))) == "quality"


def test_articles_and_questions_without_content_are_noted(write):
    path = write(line("7", "A tale."), line("8", "Another.", {"question": "Why?"}))
    assert opened(path).prompt_tokens.tolist() == [len("Another. Question: Why? Answer:")]
    anomalies = {anomaly.what: anomaly.first_line for anomaly in validate(path)}
    assert anomalies["no-questions"] == 1
    assert anomalies["no-options"] == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"article_id": "7", "article": "A"}, "field 'questions': expected this field"),
        ({"article_id": "7", "questions": [WHO]}, "field 'article': expected this field"),
        (line("7", "A", WHO | {"gold_label": 0}), "field 'gold_label': expected an option from 1"),
        (line("7", "A", WHO | {"gold_label": 5}), "field 'gold_label': expected an option from 1"),
        (line("7", "A", WHO | {"gold_label": 1.5}), "expected a whole number"),
        (line("7", "A", WHO | {"options": "He"}), "options"),
    ],
)
def test_a_bad_line_is_named(write, record, message):
    path = write(line("7", "A", WHO), record)
    with pytest.raises(DataError) as caught:
        opened(path, format="quality")
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
