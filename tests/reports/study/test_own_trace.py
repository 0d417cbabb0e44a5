from __future__ import annotations

from pathlib import Path

import pytest

from reports.api import Study
from reports.study.layers import read_settings
from reports.study.settings import Settings

OWN = ("workload.trace", "own.jsonl", "--trace")
MOVED = ("workload.trace", "there/file.jsonl", "--set")


def settings(tmp_path: Path, text: str, *over: tuple[str, object, str]) -> Settings:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_settings(path, over)


@pytest.mark.parametrize(
    "text",
    [
        "[workload]\nbuiltin = true\nrequests = 10\n",
        "[workload]\ngenerator = 'chats'\ndrift = 'shift:distance=0.3'\n[arrivals]\nrate = 8.0\n",
        "[workload.generator]\nchats = 0.5\ndocuments = 0.5\n",
        "[workload]\ntrace = 'other.jsonl'\nblock = 16\nsession_rate = 0.5\n",
        "[[grid.workload]]\ntrace = 'a.jsonl'\n[[grid.workload]]\ngenerator = 'chats'\n",
        "[grid]\n'workload.drift' = [0.0, 1.0]\n'arrivals.rate' = [1.0, 2.0]\n",
        "title = 'Chats'\n[study]\nreplications = 5\nuntil_ci = '1%'\nmax_replications = 9\n",
    ],
)
def test_nothing_of_the_study_s_traffic_is_left(text: str, tmp_path: Path) -> None:
    kept = "[policy]\nplacer = 'branch'\n" if "[policy]" not in text else ""
    asked = settings(tmp_path, f"{text}{kept}", OWN)
    assert asked.values == {"policy.placer": "branch", "workload.trace": "own.jsonl"}
    assert all(str(tmp_path / "study.toml") in note for note in asked.notes)
    assert asked.notes


def test_what_flags_say_stays(tmp_path: Path) -> None:
    text = "[arrivals]\nrate = 8.0\n[study]\nreplications = 5\nseed = 7\n"
    over = [OWN, ("arrivals.rate", 2.0, "--rate"), ("study.replications", 3, "--set")]
    asked = settings(tmp_path, text, *over)
    assert asked.values == {
        "workload.trace": "own.jsonl",
        "arrivals.rate": 2.0,
        "study.replications": 3,
        "study.seed": 7,
    }
    assert asked.notes == ()


def test_draws_of_the_costs_are_replications_of_a_trace_too(tmp_path: Path) -> None:
    text = "[model]\ndraws = true\n[study]\nreplications = 5\n"
    assert settings(tmp_path, text, OWN).values["study.replications"] == 5


def test_set_moves_the_file_of_a_study_and_leaves_how_it_is_read(tmp_path: Path) -> None:
    text = "title = 'Paper'\n[workload]\ntrace = 'file.jsonl'\nblock = 16\n"
    moved = settings(tmp_path, text, MOVED)
    assert moved.values == {
        "title": "Paper",
        "workload.trace": "there/file.jsonl",
        "workload.block": 16,
    }
    generated = settings(tmp_path, "[workload]\ngenerator = 'chats'\n", MOVED)
    assert generated.values == {"workload.trace": "there/file.jsonl"}


def test_from_python(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[workload]\nbuiltin = true\nrequests = 9\n[study]\nreplications = 3\n")
    for study in (
        Study.read(path, {"workload.trace": "own.jsonl"}),
        Study.read(path).with_settings({"workload.trace": "own.jsonl"}),
    ):
        assert study.settings["workload"] == {"trace": "own.jsonl", "on_bad_line": "fail"}
        assert study.settings["study"]["replications"] == 1
        assert [note.partition(" is not used")[0] for note in study.notes][1:] == [
            f"{path}: study.replications = 3"
        ]
