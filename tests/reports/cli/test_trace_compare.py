"""`milepost trace compare` as people use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost
from workloads.store import save
from workloads.synthetic import SyntheticSpec, generate


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("weeks")
    paths = folder / "last.parquet", folder / "this.parquet"
    for path, length in zip(paths, (4000, 12_000), strict=True):
        spec = SyntheticSpec(seed=1, requests=400, document_tokens_median=length)
        save(generate(spec), path)
    return paths


def test_sentences_on_the_terminal(milepost: Milepost, weeks: tuple[Path, Path]) -> None:
    ended = milepost("trace", "compare", *weeks)
    assert (ended.code, ended.err) == (0, "")
    assert ended.flat.startswith("A (last, 400 requests) and B (this, 400 requests) differ")
    assert "measures. Most of all, " in ended.flat
    assert "Beyond chance:" in ended.out.splitlines()
    assert "longer at the 90th percentile" in ended.flat or "times as long" in ended.flat
    assert "ways to deal out" in ended.flat
    assert ended.out == milepost("trace", "compare", *weeks).out


def test_json_and_a_page(milepost: Milepost, weeks: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = milepost("trace", "compare", *weeks, "--json", "--page", page)
    assert ended.err.strip() == f"page: {page}"
    by_name = {each["name"]: each for each in ended.json["differences"]}
    assert by_name["prompt_p90"]["verdict"] == "beyond chance"
    assert by_name["prompt_p90"]["b"] > by_name["prompt_p90"]["a"]
    assert by_name["prompt_p90"]["p_value"] <= by_name["prompt_p90"]["adjusted_p_value"] <= 0.05
    assert (ended.json["a"]["name"], ended.json["b"]["requests"]) == ("last", 400)
    written = page.read_bytes()
    milepost("trace", "compare", *weeks, "--json", "--page", page)
    assert page.read_bytes() == written


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["A"], 2, "Missing argument"),
        (["A", "none.parquet"], 3, "none.parquet"),
        (["A", "EMPTY"], 3, "empty file"),
        (["A", "A", "--page", "page.pdf"], 2, "--page: a page is HTML"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str],
    code: int,
    message: str,
    milepost: Milepost,
    weeks: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    given = [{"A": weeks[0], "EMPTY": empty}.get(word, word) for word in arguments]
    ended = milepost("trace", "compare", *given)
    assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)
    assert message in ended.err
