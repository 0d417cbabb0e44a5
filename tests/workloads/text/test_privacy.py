"""Text never leaves memory: what is saved are the lengths of prefixes."""

from __future__ import annotations

import json

import pytest

from workloads.opening import open_trace
from workloads.store import save

SECRETS = ("Ishmael", "Queequeg", "Pequod", "Nantucket", "Starbuck", "Tashtego")


def write_logs(folder):
    """Write a log of every kind that holds text, and yield their paths."""
    one, two, three, four, five, six = SECRETS
    messages = [{"role": "system", "content": one}, {"role": "user", "content": two}]
    call = {"function": {"name": three, "arguments": {four: five}}}
    messages += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": six}]
    records = {
        "chat": {"messages": messages, "user": one, "session_id": two, "response": three},
        "prompts": {"prompt": f"{one} {two} {three}", "response": four, "chat_id": five},
        "quality": {
            "article_id": one,
            "article": two,
            "questions": [{"question": three, "options": [four, five], "gold_label": 1}],
        },
    }
    for name, record in records.items():
        path = folder / f"{name}.jsonl"
        path.write_text(json.dumps(record) + "\n")
        yield path
    story = folder / "narrativeqa"
    story.mkdir()
    (story / "documents.csv").write_text(f"document_id,story_word_count\n{one},2\n")
    (story / "qaps.csv").write_text(f"document_id,question,answer1\n{one},{two},{three}\n")
    (story / f"{one}.txt").write_text(f"{four} {five}")
    yield story
    prompts = folder / "system_prompts"
    prompts.mkdir()
    (prompts / "turns.txt").write_text(two)
    (prompts / f"{one}.md").write_text(f"{three} {four} " * 400)
    yield prompts


@pytest.mark.parametrize("tokenizer", ["words", "bytes"])
def test_no_text_is_in_a_saved_trace(tmp_path, tokenizer):
    saved = tmp_path / "saved.parquet"
    paths = list(write_logs(tmp_path))
    assert len(paths) == 5
    for path in paths:
        trace = open_trace(path, tokenizer=tokenizer)
        save(trace, saved)
        content = saved.read_bytes()
        assert trace.prompt_tokens.sum() > 0
        for secret in SECRETS:
            assert secret.encode() not in content
        assert not any(secret in note for secret in SECRETS for note in trace.notes)
