"""`milepost place`: hand-worked laws, files of every kind, and what is no law."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from policies.placement.staircase import solve
from tests.reports.cli.conftest import Milepost

ROWS = [(4, 0.6), (7, 0.3), (10, 0.1)]


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return written(tmp_path / "law.csv", ROWS)


def written(path: Path, rows: list[tuple[object, object]]) -> Path:
    path.write_text("depth,weight\n" + "".join(f"{d},{w}\n" for d, w in rows))
    return path


def test_the_hand_worked_law(milepost: Milepost, law: Path) -> None:
    placement = milepost("place", "--depths", law, "--budget", 2, "--json").json
    assert placement["positions"] == [4, 7]
    assert placement["expected_saved_tokens"] == pytest.approx(5.2)
    assert placement["savings_by_budget"] == pytest.approx([0.0, 4.0, 5.2])
    assert placement["marginal_gains"] == pytest.approx([4.0, 1.2])
    assert placement["elbow"]["budget"] == 1
    assert placement["uniform"]["positions"] == [3, 7]
    assert placement["uniform"]["worst_gap_tokens"] == 3
    assert placement["uniform"]["mean_gap_tokens_if_uniform"] == pytest.approx(1.5)
    output = milepost("place", "--depths", law, "--budget", 2).out
    assert "94.5% of the overlap (5.2 / 5.5)" in output


def test_every_kind_of_file_says_the_same(milepost: Milepost, law: Path, tmp_path: Path) -> None:
    depth, weight = zip(*ROWS, strict=True)
    frame = pl.DataFrame({"weight": weight, "depth": depth, "label": ["a"] * 3})
    frame.write_parquet(tmp_path / "law.parquet")
    columns = {"depth": depth, "weight": weight}
    (tmp_path / "columns.json").write_text(json.dumps(columns))
    rows = [{"depth": d, "weight": w} for d, w in ROWS]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "odd.csv").write_text(
        "\ufeffLabel, Weight ,DEPTH\r\nx,.1,10\r\n\r\ny,.25,7.0\r\nz,0.6,4\r\nz,.05,7\r\n,0,9\r\n"
    )
    expected = milepost("place", "--depths", law, "--json").json
    for name in ("law.parquet", "columns.json", "rows.json", "odd.csv"):
        placement = milepost("place", "--depths", tmp_path / name, "--json").json
        assert placement["positions"] == expected["positions"] == [4, 7, 10]
        assert placement["savings_by_budget"] == pytest.approx(expected["savings_by_budget"])


def test_misses_count_as_requests(milepost: Milepost, tmp_path: Path) -> None:
    path = written(tmp_path / "law.csv", [(0, 50), (10, 50)])
    placement = milepost("place", "--depths", path, "--budget", 1, "--json").json
    assert placement["expected_saved_tokens"] == 5.0
    assert placement["law"]["missed_share"] == 0.5
    assert placement["bounds"]["requests"] == 100


def test_a_column_of_depths_is_a_sample(milepost: Milepost, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("depth\n5\n5\n9\n")
    placement = milepost("place", "--depths", tmp_path / "d.csv", "--budget", 1, "--json").json
    assert placement["positions"] == [5]
    assert placement["bounds"]["requests"] == 3
    assert placement["bounds"]["vacuous"]


@pytest.mark.parametrize(
    ("placer", "positions"),
    [
        ("balanced", [3, 7]),
        ("greedy", [4, 7]),
        ("greedy:budget=2", [4, 7]),
        ("optimal:budget=2", [4, 7]),
        ("last", [10]),
        ("none", []),
        ("dense", [4, 7, 10]),
        ("block:size=4", [4, 8]),
    ],
)
def test_any_placer_on_a_law(
    milepost: Milepost, law: Path, placer: str, positions: list[int]
) -> None:
    flags = ("--depths", law, "--placer", placer, "--budget", 2, "--json")
    placement = milepost("place", *flags).json
    assert placement["positions"] == positions
    assert len(placement["savings_by_budget"]) == 3
    saved = sum(w * max((c for c in positions if c <= d), default=0) for d, w in ROWS)
    assert placement["expected_saved_tokens"] == pytest.approx(saved)
    assert placement["expected_saved_tokens"] <= placement["optimum"]["savings_by_budget"][-1] + (
        10 if len(positions) > 2 else 1e-9
    )


def test_a_placer_that_learns_has_learned_the_law(milepost: Milepost, law: Path) -> None:
    flags = ("--placer", "robust:margin=0", "--budget", 2, "--json")
    assert milepost("place", "--depths", law, *flags).json["positions"] == [4, 7]


@pytest.mark.parametrize(
    ("price", "positions"), [("0", [4, 7, 10]), ("1", [4, 7]), ("1.3", [4]), ("inf", [])]
)
def test_a_price_fixes_the_budget(
    milepost: Milepost, law: Path, price: str, positions: list[int]
) -> None:
    placement = milepost("place", "--depths", law, "--price", price, "--json").json
    assert placement["positions"] == positions
    assert placement["budget"] == len(positions)


def test_seconds_of_a_profile(milepost: Milepost, tmp_path: Path) -> None:
    path = written(tmp_path / "law.csv", [(2_000, 5), (20_000, 4), (40_000, 1)])
    flags = ("--depths", path, "--profile", "qwen3.5-9b-h200", "--length", 50_000, "--json")
    seconds = milepost("place", *flags, "--budget", 1).json["seconds"]
    assert 0 < seconds["expected_saved_seconds"] <= seconds["best_saved_seconds"] + 1e-12
    placement = milepost("place", *flags, "--price", "1 ms").json
    assert placement["price"] == {"per_checkpoint": 0.001, "unit": "seconds a request"}
    assert placement["positions"] == placement["seconds"]["best_positions"]
    assert milepost("place", *flags, "--price", "100 s").json["positions"] == []


def test_seconds_beyond_the_profile_are_told(milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "law.csv"
    path.write_text("depth,weight\n1000,1\n", encoding="utf-8")
    flags = ("place", "--depths", path, "--profile", "qwen3.5-9b-h200", "--json", "--length")
    (note,) = milepost(*flags, 50_000).json["notes"]
    assert "extrapolated beyond the profile, which is valid for prefills of up to 16,384" in note
    assert milepost(*flags, 16_384).json["notes"] == []


def test_a_trace_comes_with_a_hold_out(milepost: Milepost, shared: Path) -> None:
    trace = shared / "data" / "leval_docqa" / "leval_multi_q.jsonl.gz"
    flags = ("--from-trace", trace, "--block", 16, "--budget", 6, "--json")
    placement = milepost("place", *flags).json
    held = placement["hold_out"]
    assert held["planned_on_requests"] + held["tested_on_requests"] == placement["law"]["requests"]
    assert 0 <= held["lost_tokens"] <= held["lost_tokens_at_most_by_total_variation"]
    assert held["lost_tokens"] <= held["lost_tokens_at_most_by_kolmogorov_distance"]
    assert held["expected_saved_tokens"] + held["lost_tokens"] == pytest.approx(
        held["best_saved_tokens"]
    )


def test_long_prompts_and_budgets_beyond_the_support(milepost: Milepost, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    depths = np.sort(rng.choice(10**7, 500, replace=False)) + 1
    weights = rng.integers(1, 9, 500)
    rows = list(zip(depths.tolist(), weights.tolist(), strict=True))
    path = written(tmp_path / "law.csv", rows)
    flags = ("--depths", path, "--length", 10**7, "--budget", 700, "--json")
    placement = milepost("place", *flags).json
    curve = solve(depths, weights / weights.sum(), 500).savings_by_budget
    assert placement["savings_by_budget"][:501] == pytest.approx(curve.tolist())
    assert placement["savings_by_budget"][-1] == pytest.approx(float(curve[-1]))
    assert placement["positions"] == depths.tolist()


def test_depths_beyond_the_prompt_count_as_its_length(milepost: Milepost, law: Path) -> None:
    placement = milepost("place", "--depths", law, "--length", 6, "--budget", 2, "--json").json
    assert placement["positions"] == [4, 6]
    assert placement["expected_saved_tokens"] == pytest.approx(0.6 * 4 + 0.4 * 6)
    assert "40.00% of the weight lies beyond" in placement["notes"][0]


@pytest.mark.parametrize("rows", [[(10**7, 3.0)], [(1, 1e-300)], [(5, 1e300)]])
def test_laws_of_one_point(milepost: Milepost, tmp_path: Path, rows: list[object]) -> None:
    path = written(tmp_path / "law.csv", rows)
    placement = milepost("place", "--depths", path, "--budget", 3, "--json").json
    assert placement["positions"] == [rows[0][0]]
    assert placement["expected_saved_tokens"] == rows[0][0]
    zero = milepost("place", "--depths", path, "--budget", 0, "--json").json
    assert (zero["positions"], zero["savings_by_budget"]) == ([], [0.0])


def test_only_misses_need_no_checkpoint(milepost: Milepost, tmp_path: Path) -> None:
    path = written(tmp_path / "law.csv", [(0, 3)])
    placement = milepost("place", "--depths", path, "--json").json
    assert (placement["positions"], placement["expected_saved_tokens"]) == ([], 0.0)
    assert milepost("place", "--depths", path).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth,weight\n4,-1\n", "law.csv:2: field 'weight': expected a finite number"),
        ("depth,weight\n4,nan\n", "law.csv:2: field 'weight': expected a finite number"),
        ("depth,weight\n4,inf\n", "found 'inf'"),
        ("depth,weight\n4,1\n-2,1\n", "law.csv:3: field 'depth': expected a whole number"),
        ("depth,weight\n1.5,1\n", "field 'depth': expected a whole number"),
        ("depth,weight\nx,1\n", "field 'depth'"),
        ("depth,weight\n1e300,1\n", "field 'depth'"),
        ("depth,weight\n4\n", "expected the columns depth and weight, found 1 fields"),
        ("depth,weight\n4,0\n", "expected weight at some depth, found none"),
        ("depth,weight\n", "expected weight at some depth"),
        ("", "expected weight at some depth"),
        ("4,1\n", "law.csv:1: expected the columns depth and weight, found '4, 1'"),
        ("depth,weight\n10,1e308\n11,1e308\n", "finite"),
        ('depth,weight\n"4,1\n', "expected a line of CSV"),
        ("depth,weight\n\0\0", "binary"),
    ],
)
def test_what_is_no_law_is_one_line(
    milepost: Milepost, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "law.csv"
    path.write_text(text)
    ended = milepost("place", "--depths", path, "--json")
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert message in ended.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("law.json", b"{", "not JSON"),
        ("law.json", b'{"depth": [1, 2], "weight": [1]}', "as many weights as depths"),
        ("law.json", b'{"depth": 3}', "expected lists of numbers"),
        ("law.json", b'{"depths": [1]}', "expected the columns depth and weight"),
        ("law.json", b"[1, 2]", "expected a list of objects"),
        ("law.json", b'[{"depth": true}]', "field 'depth'"),
        ("law.parquet", b"PAR1 and then nothing", "not a Parquet file"),
        ("law.csv", b"depth,weight\n\xff,1\n", "UTF-8"),
    ],
)
def test_broken_files_are_one_line(
    milepost: Milepost, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    ended = milepost("place", "--depths", tmp_path / name)
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert message in ended.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "give one of --depths FILE and --from-trace FILE"),
        (["--depths", "LAW", "--from-trace", "LAW"], "give one of"),
        (["--depths", "LAW", "--block", "16"], "belong to --from-trace"),
        (["--depths", "LAW", "--budget", "-1"], "--budget: expected 0 to"),
        (["--depths", "LAW", "--budget", "9999999"], "--budget: expected 0 to"),
        (["--depths", "LAW", "--length", "0"], "--length: expected 1"),
        (["--depths", "LAW", "--price", "-1"], "--price: expected"),
        (["--depths", "LAW", "--price", "nan"], "--price: expected"),
        (["--depths", "LAW", "--price", "cheap"], "--price: expected"),
        (["--depths", "LAW", "--price", "2 ms"], "needs --profile"),
        (["--depths", "LAW", "--price", "2", "--budget", "3"], "neither a budget nor a placer"),
        (["--depths", "LAW", "--placer", "optimla"], "did you mean 'optimal'"),
        (["--depths", "LAW", "--placer", "balanced:budget=3", "--budget", "4"], "contradicts"),
        (["--depths", "LAW", "--placer", "clairvoyant"], "looks ahead"),
        (["--depths", "LAW", "--placer", "block:size=1", "--length", "10000000"], "positions"),
        (["--depths", "LAW", "--profile", "none-such"], "unknown profile"),
    ],
)
def test_wrong_flags_are_one_line(
    milepost: Milepost, law: Path, flags: list[str], message: str
) -> None:
    ended = milepost("place", *[str(law) if flag == "LAW" else flag for flag in flags])
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


@pytest.mark.parametrize("name", ["none.csv", "."])
def test_a_file_that_is_none(milepost: Milepost, tmp_path: Path, name: str) -> None:
    ended = milepost("place", "--depths", tmp_path / name)
    assert (ended.code, ended.err.count("\n")) == (3, 1)


def test_an_unwritable_page_leaves_nothing(milepost: Milepost, law: Path, tmp_path: Path) -> None:
    ended = milepost("place", "--depths", law, "--page", tmp_path / "no" / "page.html")
    assert (ended.code, ended.out) == (2, "")
    assert list(tmp_path.iterdir()) == [law]
