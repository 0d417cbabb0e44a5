from __future__ import annotations

import json

import pytest

from simulator.base.errors import DataError
from workloads.inspection import overlaps
from workloads.opening import format_of, open_trace
from workloads.validation import validate

ONE, TWO = "You are one. " * 500, "You are two. " * 600


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "prompts"
    for name, text in {
        "one.md": ONE,
        "vendor/two.md": f"\n{TWO}\n",
        "README.md": "r" * 6000,
        "vendor/readme.md": "r" * 6000,
        "OLD/three.md": "o" * 6000,
        "vendor/raw/four.md": "w" * 6000,
        ".git/five.md": "g" * 6000,
        "notes.txt": "n" * 6000,
        "short.md": "s" * 4999,
        "long.md": "l" * 50_001,
    }.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    turns = [f"Turn {at:02}?" for at in range(40)]
    (path / "turns.txt").write_text("\n".join(turns) + "\n")
    return path


def opened(path, **options):
    trace = open_trace(path, tokenizer="bytes", **options)
    assert trace.problem() is None
    return trace


def test_each_prompt_is_asked_thirty_different_turns(folder):
    assert format_of(folder) == "system-prompts"
    trace = opened(folder)
    added = len("\n\nUser: Turn 00?")
    lengths = sorted(trace.prompt_tokens.tolist())
    assert lengths == [len(ONE.strip()) + added] * 30 + [len(TWO.strip()) + added] * 30
    assert len(set(trace.leaf.tolist())) == 60
    assert sorted(trace.session.tolist()) == [0] * 30 + [1] * 30
    assert trace.arrival_seconds is None
    assert trace.output_tokens.tolist() == [0] * 60
    met = overlaps(trace)
    assert sorted(met)[0] == 0
    assert sum(met >= len(ONE.strip()) + len("\n\nUser: Turn ")) == 58


def test_draws_depend_on_the_seed_only(folder):
    def order(**options):
        trace = opened(folder, **options)
        return trace.leaf.tolist(), trace.prompt_tokens.tolist()

    assert order() == order() == order(seed=0)
    assert order(seed=1) != order()
    assert order()[1] != sorted(order()[1])


def test_what_is_left_out_is_noted(folder):
    anomalies = {anomaly.what: anomaly.count for anomaly in validate(folder)}
    assert anomalies["other-length"] == 2
    assert any("30 first turns a system prompt" in note for note in opened(folder).notes)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("turns.jsonl", [{"turns": ["Hi", "Later"]}, {"prompt": "Hello"}, {"text": "Who?"}]),
        ("turns.csv", 'text,other\nHi,1\n"Hello",2\n,3\nWho?,4\n'),
        (
            "turns.csv",
            "url,role,message_index,plain_text\n"
            "a,user,2,Later\na,user,0,Hi\nb,system,0,Skip\nb,user,1,Hello\nc,user,1,Who?\n",
        ),
        ("turns.txt", "Hi\n\nHello\nWho?"),
    ],
)
def test_turns_come_from_several_kinds_of_file(folder, name, text):
    (folder / "turns.txt").unlink()
    (folder / "vendor" / "two.md").unlink()
    plain = text if isinstance(text, str) else "\n".join(map(json.dumps, text))
    (folder / name).write_text(plain)
    start = len(ONE.strip() + "\n\nUser: ")
    lengths = sorted(opened(folder).prompt_tokens.tolist())
    assert lengths == [start + len(turn) for turn in ("Hi", "Who?", "Hello")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("turns.jsonl", '{"turns": []}\n', "turns.jsonl:1: field 'turns': expected a turn here"),
        ("turns.csv", "url\nx\n", "turns.csv:2: field 'text': expected this column"),
        (
            "turns.csv",
            "url,role,message_index,plain_text\na,user,first,Hi\n",
            "turns.csv:2: field 'message_index': expected a whole number",
        ),
    ],
)
def test_a_bad_turn_is_named(folder, name, text, message):
    (folder / "turns.txt").unlink()
    (folder / name).write_text(text)
    with pytest.raises(DataError) as caught:
        opened(folder)
    assert message in str(caught.value)
    with pytest.raises(DataError, match="expected a first turn, found none"):
        opened(folder, on_bad_line="skip")


def test_folders_that_lack_a_part_are_one_line(folder):
    (folder / "turns.csv").write_text("text\nHi\n")
    with pytest.raises(DataError, match=r"expected one file of turns .*, found 2"):
        opened(folder)
    (folder / "turns.csv").unlink()
    for file in ("one.md", "vendor/two.md"):
        (folder / file).unlink()
    with pytest.raises(DataError, match=r"expected a system prompt of 5,000 to 50,000 characters"):
        opened(folder)


def test_links_in_circles_end(folder):
    (folder / "vendor" / "again").symlink_to(folder)
    assert len(opened(folder)) == 60
