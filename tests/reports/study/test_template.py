"""The chat template of a study, and what it does to a growing chat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration.catalogue import open_profile
from reports.study.cells import expand
from reports.study.file import parse_study
from reports.study.layers import parse_override, read_settings
from reports.study.traces import load_trace, store_trace
from simulator.costs.profile import profile_to_json
from tests.reports.cli.conftest import Milepost, milepost
from workloads.store import save

__all__ = ["milepost"]

QUESTIONS = [f"Question {at}: " + f"tell me about rivers {at} " * 20 for at in range(5)]
ANSWERS = [f"Answer {at}: " + f"they are wide {at} " * 20 for at in range(5)]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Return the log of a chat that grows by a question and an answer at a time."""
    messages: list[dict[str, str]] = []
    rows = []
    for at, (question, answer) in enumerate(zip(QUESTIONS, ANSWERS, strict=True)):
        messages = [*messages, {"role": "user", "content": question}]
        reply = {"role": "assistant", "content": answer, "reasoning_content": f"Thought {at}"}
        row = {"session_id": "s", "timestamp": 100 * at, "messages": messages, "response": reply}
        rows.append(row)
        messages = [*messages, reply]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def study_of(*overrides: str, path: Path | None = None):
    return read_settings(path, map(parse_override, overrides))


def loaded(path: Path, *overrides: str):
    return load_trace(parse_study(study_of(f"workload.trace={path}", *overrides)), 0)


def other_model(folder: Path) -> Path:
    """Return a profile of a model whose family has no template of its own here."""
    profile = json.loads(profile_to_json(open_profile("qwen3.5-9b-h200")))
    profile["model"] |= {"name": "nemotron-nano-9b-v2"}
    path = folder / "other.json"
    path.write_text(json.dumps(profile))
    return path


def saved_share(milepost: Milepost, chat: Path, *flags: object) -> float:
    fixed = ("--placer", "last", "--server", "instant", "--set", "model.alignment=1", "--json")
    summary = milepost("run", "--trace", chat, *fixed, *flags).json
    return summary["saved_tokens"] / summary["prompt_tokens"]


def test_last_saves_nothing_where_prompts_leave_at_the_reasoning(
    milepost: Milepost, chat: Path
) -> None:
    assert saved_share(milepost, chat) == 0
    assert saved_share(milepost, chat, "--template", "qwen3.5:thinking=false") == 0
    assert saved_share(milepost, chat, "--template", "chatml") > 0.5
    assert saved_share(milepost, chat, "--template", "qwen3.6:preserve_thinking=true") > 0.5


@pytest.mark.parametrize(
    ("profile", "template"),
    [
        ("qwen3.5-9b-h200", "qwen3.5"),
        ("qwen3.5-0.8b-h200", "qwen3.5:thinking=false"),
        ("analytic:model=qwen3-next-80b-a3b", "qwen3"),
        ("analytic:model=qwen3.5-27b", "qwen3.5"),
    ],
)
def test_the_model_of_the_profile_has_the_template(
    milepost: Milepost, chat: Path, profile: str, template: str
) -> None:
    ended = milepost("run", "--trace", chat, "--profile", profile, "--dry-run", "--json")
    assert f"the chat template is {template}" in ended.json["trace"]["notes"]
    assert any("template of the profile's model" in note for note in ended.json["trace"]["notes"])


def test_a_stated_template_goes_first_and_is_part_of_the_grid(tmp_path: Path, chat: Path) -> None:
    notes = loaded(chat, "workload.template=llama3").notes
    assert "the chat template is llama3" in notes
    assert not any("profile's model" in note for note in notes)
    grid = 'grid.workload.template=["chatml", "qwen3.5"]'
    _, cells = expand(study_of(f"workload.trace={chat}", grid))
    assert len({cell.trace for cell in cells}) == 2
    stored = [store_trace(cell.study, 0, tmp_path)[1].prompt_tokens for cell in cells]
    assert stored[0] != stored[1]


def test_models_of_other_templates_have_other_traces(chat: Path, tmp_path: Path) -> None:
    grid = 'grid.model.profile=["qwen3.5-9b-h200", "analytic:model=qwen3-next-80b-a3b"]'
    _, cells = expand(study_of(f"workload.trace={chat}", grid))
    assert len({cell.trace for cell in cells}) == 2
    blocks = tmp_path / "blocks.jsonl"
    blocks.write_text('{"timestamp": 0, "input_length": 9, "output_length": 1, "hash_ids": [1]}\n')
    _, cells = expand(study_of(f"workload.trace={blocks}", grid))
    assert len({cell.trace for cell in cells}) == 1


def test_a_saved_trace_warns_where_the_model_has_another_template(
    chat: Path, tmp_path: Path
) -> None:
    path = tmp_path / "saved.parquet"
    save(loaded(chat, "workload.template=chatml"), path)
    warned = [note for note in loaded(path).notes if note.startswith("warning: ")]
    assert len(warned) == 1
    assert (
        "rendered with chatml when it was saved, and qwen3.5-9b is served with qwen3.5"
        in (warned[0])
    )
    assert "--template qwen3.5" in warned[0]
    stated = [note for note in loaded(path, "workload.template=qwen3").notes if "asks for" in note]
    assert len(stated) == 1
    for same in ("workload.template=chatml", f"model.profile={other_model(tmp_path)}"):
        assert not any(note.startswith("warning: ") for note in loaded(path, same).notes)


def test_a_file_stands_beside_the_study_and_is_part_of_the_workload(
    chat: Path, tmp_path: Path
) -> None:
    template, study = tmp_path / "t.jinja", tmp_path / "study.toml"
    study.write_text('[workload]\ntrace = "chat.jsonl"\ntemplate = "t.jinja:a=1"\n')
    keys = []
    for text in ("{{ messages }}", "{{ messages }}{{ a }}"):
        template.write_text(text)
        _, cells = expand(study_of(path=study))
        assert cells[0].study.workload.template == f"{template}:a=1"
        assert cells[0].study.absolute()["workload"]["template"] == f"{template.resolve()}:a=1"
        keys.append(cells[0].trace)
    assert keys[0] != keys[1]
    assert "the chat template is t.jinja:a=1" in load_trace(cells[0].study, 0).notes


def test_a_law_of_depths_is_of_the_model_too(milepost: Milepost, chat: Path) -> None:
    plan = milepost("place", "--from-trace", chat, "--profile", "qwen3.5-9b-h200", "--json").json
    assert "the chat template is qwen3.5" in plan["notes"]
    alone = milepost("place", "--from-trace", chat, "--json").json
    assert "the chat template is ChatML" in alone["notes"]


def test_a_folder_counts_by_what_is_in_it(chat: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    keys = set()
    for text in ("{{ messages }}", "{{ messages }}!"):
        (folder / "chat_template.jinja").write_text(text)
        (folder / "tokenizer_config.json").write_text("{}")
        file = folder / "tokenizer_config.json"
        for named in (folder, file):
            _, cells = expand(study_of(f"workload.trace={chat}", f"workload.template={named}"))
            keys.add(cells[0].trace)
    assert len(keys) == 4


def test_trace_commands_have_no_model_and_say_so(
    milepost: Milepost, chat: Path, tmp_path: Path
) -> None:
    notes = milepost("trace", "inspect", chat, "--json").json["notes"]
    assert "the chat template is ChatML" in notes
    assert any("--template" in note for note in notes)
    document = milepost("trace", "inspect", chat, "--template", "qwen3.5", "--json").json
    assert "the chat template is qwen3.5" in document["notes"]
    out = tmp_path / "out.parquet"
    assert milepost("trace", "convert", chat, "--out", out, "--template", "qwen3").code == 0
    assert "the chat template is qwen3" in milepost("trace", "inspect", out, "--json").json["notes"]
    assert milepost("trace", "validate", chat, "--template", "plain").code == 0


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (("--template", "nope"), 2, "template: 'nope' is no file, and no known name"),
        (("--template", "broken.jinja"), 3, "broken.jinja:1: is no usable template"),
        (("--template", "refuses.jinja"), 3, ":1: field 'messages': the chat template refuses it"),
    ],
)
def test_a_template_that_is_none_ends_in_one_line(
    milepost: Milepost, chat: Path, tmp_path: Path, monkeypatch, flags, code, message
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.jinja").write_text("{% if %}")
    Path("refuses.jinja").write_text("{{ raise_exception('no') }}")
    for command in (("run", "--trace", chat), ("trace", "inspect", chat)):
        ended = milepost(*command, *flags)
        assert ended.code == code
        assert message in ended.err
        assert ended.err.count("\n") == 1
