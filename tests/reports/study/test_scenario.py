from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.study.cells import baseline_placer, expand, replication_seeds
from reports.study.file import generator_fields, parse_study
from reports.study.layers import parse_override, read_settings
from reports.study.scenario import build_scenario
from reports.study.sections import ResolvedStudy
from reports.study.settings import to_toml
from simulator.base.errors import DataError, MilepostError, UsageError


def study_of(text: str, folder: Path, *overrides: str) -> ResolvedStudy:
    path = folder / "study.toml"
    path.write_text(text)
    return parse_study(read_settings(path, map(parse_override, overrides)))


def cells_of(text: str, folder: Path, *overrides: str) -> tuple[ResolvedStudy, list]:
    path = folder / "study.toml"
    path.write_text(text)
    return expand(read_settings(path, map(parse_override, overrides)))


def test_defaults_need_no_file() -> None:
    study = parse_study(read_settings(None))
    assert study.cache.capacity is None
    assert (study.policy.placer, study.policy.eviction) == ("adaptive", "lru")
    assert study.server.kind == "queue"
    scenario = build_scenario(study)
    assert scenario.capacity_bytes is None
    assert scenario.profile.kv_bytes_per_token == 32 * 1024


def test_sizes_and_times_are_read_with_their_units(tmp_path: Path) -> None:
    study = study_of('[cache]\ncapacity = "8 GiB"\n[server]\nhorizon = "1.5 min"\n', tmp_path)
    assert study.cache.capacity == 8 * 2**30
    assert study.server.horizon == 90.0


def test_what_evicted_kv_gives_up_is_the_tail_or_the_run(tmp_path: Path) -> None:
    assert build_scenario(study_of("", tmp_path)).cut == "tail"
    assert build_scenario(study_of('[cache]\nevicts = "run"\n', tmp_path)).cut == "span"


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    text = '[cache]\ncapacity = "8 GiB"\n[study]\nseed = 1\n'
    study = study_of(text, tmp_path, "cache.capacity=unbounded", "study.seed=7")
    assert study.cache.capacity is None
    assert study.study.seed == 7


def test_an_override_without_toml_syntax_is_a_string() -> None:
    key, value, _ = parse_override("policy.placer=block:size=64")
    assert (key, value) == ("policy.placer", "block:size=64")
    assert parse_override("study.warmup = 0.25")[1] == 0.25
    assert parse_override('grid.policy.placer=["last", "branch"]')[1] == ["last", "branch"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[cach]\ncapacity = 1\n", "unknown key 'cach.capacity'; did you mean 'cache.capacity'?"),
        ("[cache]\ncapcity = 1\n", "unknown key 'cache.capcity'; did you mean 'cache.capacity'?"),
        ("titel = 'x'\n", "unknown key 'titel'; did you mean 'title'?"),
        ("cache = 3\n", "'cache' is a section, found 3"),
        ("[study]\nreplications = 0\n", "'study.replications': expected greater than or equal"),
        ("[study]\nreplications = true\n", "'study.replications': expected a valid integer"),
        ("[study]\nwarmup = nan\n", "'study.warmup': expected a finite number, found nan"),
        ("[study]\nwarmup = inf\n", "'study.warmup': expected a finite number, found inf"),
        (
            "[arrivals]\nrate = -1\n",
            "'arrivals.rate': expected greater than or equal to 0.000001, found -1",
        ),
        ("[server]\nkind = 'fast'\n", "'server.kind': expected 'queue' or 'instant'"),
        ("[server]\nhorizon = 'soon'\n", "'server.horizon': "),
        ("[cache]\ncapacity = 'lots'\n", "'cache.capacity': "),
        ("[cache]\ncapacity = -5\n", "'cache.capacity': "),
        ("[grid]\n'policy.placer' = []\n", "'grid.policy.placer': "),
        ("[grid]\n'policy.place' = ['last']\n", "unknown key of the grid 'policy.place'; did you"),
        ("[grid]\n'study.seed' = [1, 2]\n", "unknown key of the grid 'study.seed'"),
        ("[workload]\nbuiltin = true\ntrace = 'x'\n", "'workload.trace' contradicts"),
        ("[workload]\ndrift = 0.5\ntrace = 'x'\n", "'workload.trace' contradicts workload.drift"),
        ("[workload]\nbuiltin = false\n", "no workload.trace is given"),
        ("[workload]\nblock = 16\n", "'workload.block' is about a trace file"),
        ("[server]\nkind = 'instant'\nqueue_limit = 3\n", "'server.queue_limit' contradicts"),
        ("title = \n", "not TOML"),
    ],
)
def test_each_mistake_is_one_line_that_names_file_and_key(
    text: str, line: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        study_of(text, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'study.toml'}: {line}")
    assert "\n" not in str(caught.value)


def test_a_wrong_override_names_the_flag(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--set: unknown key 'cach\.capacity'"):
        study_of("", tmp_path, "cach.capacity=1")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00" * 10, b"a = 1\n" * 300_000])
def test_files_that_are_no_study(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"study\.toml: "):
        read_settings(path)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="expected a study file"):
        read_settings(tmp_path)


def test_a_pipe_is_no_study_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UsageError, match="expected a study file"):
        read_settings(tmp_path / "pipe.toml")


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    digits = "9" * 5000
    with pytest.raises(UsageError, match="thousands of digits"):
        study_of(f"[study]\nseed = {digits}\n", tmp_path)
    with pytest.raises(UsageError, match="expected a valid integer"):
        study_of("", tmp_path, f"study.seed={digits}")


def test_paths_are_relative_to_the_file_and_flags_to_the_folder(tmp_path: Path) -> None:
    study = study_of("[workload]\ntrace = 'a.jsonl'\n", tmp_path)
    assert study.workload.trace == str(tmp_path / "a.jsonl")
    study = study_of("", tmp_path, "workload.trace=a.jsonl")
    assert study.workload.trace == "a.jsonl"


def test_every_knob_of_the_built_in_workload_is_a_key(tmp_path: Path) -> None:
    knobs = generator_fields()
    assert {"requests", "drift"} <= set(knobs)
    text = "[workload]\n" + "".join(f"{name} = {value}\n" for name, value in knobs.items())
    assert study_of(text, tmp_path).workload.knobs == knobs


def test_a_knob_out_of_range_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"drift.*found 7"):
        cells_of("[workload]\ndrift = 7.0\n", tmp_path)


GRID = """
[workload]
requests = 100
[study]
replications = 2
[grid]
"policy.placer" = ["last", "branch", "block:size=64"]
"cache.capacity" = ["1 GiB", "unbounded"]
"""


def test_cells_are_the_product_in_the_order_written(tmp_path: Path) -> None:
    _, cells = cells_of(GRID, tmp_path)
    order = [(c.study.policy.placer, c.study.cache.capacity, c.replication) for c in cells]
    assert order[:4] == [
        ("last", 2**30, 0),
        ("last", 2**30, 1),
        ("last", None, 0),
        ("last", None, 1),
    ]
    assert len(order) == len(set(order)) == 12
    assert len({cell.identity for cell in cells}) == 12


def test_every_policy_sees_the_same_workload_of_a_replication(tmp_path: Path) -> None:
    _, cells = cells_of(GRID, tmp_path)
    for replication in (0, 1):
        drawn = {(c.seed, c.trace) for c in cells if c.replication == replication}
        assert len(drawn) == 1
    assert len({c.trace for c in cells}) == 2


def test_the_identity_depends_on_what_a_result_depends_on(tmp_path: Path) -> None:
    base = cells_of(GRID, tmp_path)[1][0].identity
    assert cells_of(GRID + "\n", tmp_path)[1][0].identity == base
    changes = ("study.seed=1", "study.warmup=0.5", "workload.requests=101", "model.alignment=1")
    others = {cells_of(GRID, tmp_path, change)[1][0].identity for change in changes}
    assert len(others) == len(changes)
    assert base not in others
    assert cells_of(GRID, tmp_path, "title=other")[1][0].identity == base


def test_the_first_replication_is_the_seed_itself(tmp_path: Path) -> None:
    study = study_of("[study]\nseed = 42\nreplications = 50\n", tmp_path)
    seeds = replication_seeds(study)
    assert seeds[0] == 42
    assert len(set(seeds)) == 50
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_one_spelling_of_a_policy(tmp_path: Path) -> None:
    text = "[grid]\n'policy.placer' = ['dyadic', 'dyadic:first=768']\n"
    with pytest.raises(UsageError, match="the same cell twice"):
        cells_of(text, tmp_path)


def test_a_key_cannot_be_set_and_varied_in_one_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'cache\.capacity' is both set and varied"):
        cells_of(GRID + "[cache]\ncapacity = 1\n", tmp_path)


def test_a_flag_pins_what_the_grid_varies(tmp_path: Path) -> None:
    _, cells = cells_of(GRID, tmp_path, "policy.placer=last", "cache.capacity=1 GiB")
    assert [c.study.policy.placer for c in cells] == ["last", "last"]
    assert cells[0].choice == {}


def test_a_grid_from_a_flag_replaces_a_setting_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[policy]\nplacer = 'none'\n")
    settings = read_settings(path, [parse_override("grid.policy.placer=['last', 'branch']")])
    assert "policy.placer" not in settings.values
    assert len(expand(settings)[1]) == 2


def test_the_baseline_is_one_of_the_placers(tmp_path: Path) -> None:
    study, cells = cells_of(GRID, tmp_path)
    assert baseline_placer(study, cells) == "last"
    study, cells = cells_of(GRID, tmp_path, "study.baseline=block:size=64")
    assert baseline_placer(study, cells) == "block:size=64"
    study, cells = cells_of(GRID, tmp_path, "study.baseline=dense")
    with pytest.raises(UsageError, match="'dense' is not among the placers: last, branch"):
        baseline_placer(study, cells)


@pytest.mark.parametrize(
    ("override", "error"),
    [
        ("policy.placer=lst", "placer 'lst': unknown name 'lst'; did you mean 'last'"),
        ("policy.eviction=lfx", "eviction 'lfx'"),
        ("model.profile=nope", "unknown profile 'nope'"),
        ("workload.trace=/does/not/exist.jsonl", "cannot be read"),
    ],
)
def test_unknown_names_are_told_before_anything_runs(
    override: str, error: str, tmp_path: Path
) -> None:
    with pytest.raises((UsageError, DataError), match=error):
        cells_of("", tmp_path, override)


def test_too_many_cells(tmp_path: Path) -> None:
    sizes = ", ".join(str(size) for size in range(1, 500))
    text = f"[grid]\n'cache.capacity' = [{sizes}]\n'workload.requests' = [{sizes}]\n"
    with pytest.raises(UsageError, match="249,001 cells"):
        cells_of(text, tmp_path)


def test_the_resolved_study_is_a_study(tmp_path: Path) -> None:
    study, cells = cells_of(GRID, tmp_path)
    again, same_cells = cells_of(to_toml(study.resolved()), tmp_path)
    assert again == study
    assert [cell.identity for cell in same_cells] == [cell.identity for cell in cells]


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
        st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8"), max_size=20)
        | st.lists(st.integers(0, 9), max_size=3),
    )
)
def test_written_toml_reads_back(table: dict) -> None:
    assert tomllib.loads(to_toml({"t": table}))["t"] == table


@given(st.text(max_size=40))
def test_a_strange_override_is_refused_in_one_line(text: str) -> None:
    try:
        parse_study(read_settings(None, [parse_override(text)]))
        problem = ""
    except MilepostError as error:
        problem = str(error)
    assert "\n" not in problem
