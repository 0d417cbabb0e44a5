from __future__ import annotations

from pathlib import Path

import pytest

from reports.study.cells import Cell, expand
from reports.study.layers import parse_override, read_settings
from reports.study.settings import to_toml
from simulator.base.errors import UsageError
from workloads.store import save
from workloads.synthetic import read_generator


def cells_of(path: Path, text: str, *sets: str) -> list[Cell]:
    (path / "study.toml").write_text(text)
    return expand(read_settings(path / "study.toml", [parse_override(each) for each in sets]))[1]


def traced(folder: Path) -> str:
    """Write a small trace and return its name."""
    from workloads.arrivals import Poisson
    from workloads.drift import read_drift

    folder.mkdir(exist_ok=True)
    trace = read_generator("chats").trace(50, 1, Poisson(5.0), read_drift(""))
    save(trace, folder / "a.parquet")
    return "a.parquet"


TWO = """
[grid]
"policy.placer" = ["last", "branch"]
[[grid.workload]]
trace = "a.parquet"
[[grid.workload]]
generator = "documents"
requests = 60
"""


def test_each_workload_has_settings_of_its_own(tmp_path: Path) -> None:
    traced(tmp_path)
    cells = cells_of(tmp_path, TWO)
    order = [(c.study.policy.placer, c.choice["workload"]) for c in cells]
    assert order == [(p, w) for p in ("last", "branch") for w in ("a.parquet", "documents")]
    assert cells[0].study.workload.trace == str(tmp_path / "a.parquet")
    assert cells[1].study.workload.generator == "documents"
    assert cells[1].study.workload.knobs == {"requests": 60}
    assert len({cell.trace for cell in cells}) == 2


def test_trace_files_may_be_varied_by_name(tmp_path: Path) -> None:
    traced(tmp_path)
    traced(tmp_path / "b")
    grid = '[grid]\n"workload.trace" = ["a.parquet", "b/a.parquet"]\n'
    with pytest.raises(UsageError, match="same cell twice"):  # their contents are the same
        cells_of(tmp_path, grid)
    grid = '[grid]\n"workload.trace" = ["b/a.parquet"]\n'
    (cell,) = cells_of(tmp_path, grid)
    assert cell.study.workload.trace == str(tmp_path / "b" / "a.parquet")


def test_names_that_are_the_same_are_told_apart_by_the_rest(tmp_path: Path) -> None:
    text = """
    [[grid.workload]]
    generator = "chats"
    requests = 100
    [[grid.workload]]
    generator = "chats"
    requests = 200
    [[grid.workload]]
    generator = { chats = 0.5, documents = 0.5 }
    [[grid.workload]]
    builtin = true
    """
    assert [cell.choice["workload"] for cell in cells_of(tmp_path, text)] == [
        "chats (requests 100)",
        "chats (requests 200)",
        "0.5 chats + 0.5 documents",
        "built-in",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[grid]\nworkload = ['chats']",
            "expected a table, as in trace = 'a.jsonl', found 'chats'",
        ),
        ("[[grid.workload]]", r"expected a table.*found {}"),
        ("[[grid.workload]]\ngenerater = 'chats'", "did you mean 'workload.generator'"),
        (
            "[[grid.workload]]\nbuiltin = true\n[[grid.workload]]\nbuiltin = true",
            "the same workload",
        ),
        (
            "[workload]\nrequests = 9\n[[grid.workload]]\ntrace = 'a.parquet'",
            "'workload.trace' contradicts workload.requests",
        ),
    ],
)
def test_what_is_no_workload_is_refused_by_its_place(
    tmp_path: Path, text: str, problem: str
) -> None:
    traced(tmp_path)
    with pytest.raises(UsageError, match=problem) as error:
        cells_of(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'study.toml'}: [[grid.workload]]")


def test_a_flag_that_names_a_workload_replaces_those_of_the_grid(tmp_path: Path) -> None:
    traced(tmp_path)
    cells = cells_of(tmp_path, TWO, "workload.generator=chats", "workload.requests=70")
    assert [cell.choice for cell in cells] == [
        {"policy.placer": "last"},
        {"policy.placer": "branch"},
    ]
    assert {cell.study.workload.generator for cell in cells} == {"chats"}


def test_the_resolved_study_holds_from_any_folder(tmp_path: Path) -> None:
    traced(tmp_path)
    (tmp_path / "study.toml").write_text(TWO)
    study, cells = expand(read_settings(tmp_path / "study.toml"))
    other = tmp_path / "elsewhere"
    other.mkdir()
    again = cells_of(other, to_toml(study.absolute()))
    assert [cell.identity for cell in again] == [cell.identity for cell in cells]
