"""The figures of documents are what their templates and the stored results say."""

from __future__ import annotations

from pathlib import Path

import pytest

import studies.figures.__main__ as command
from studies.figures import blocks, rendering
from studies.figures.blocks import (
    BEGIN,
    END,
    BrokenBlockError,
    DocumentBlock,
    all_blocks,
    blocks_of,
)
from studies.figures.parts import Part, Workplace
from studies.figures.registry import PARTS, chosen
from studies.figures.rendering import TEMPLATES
from studies.figures.stored import RESULTS, drift, read, rounded
from tests.conftest import ROOT

BLOCKS = all_blocks()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.template)
def test_a_block_says_what_its_template_and_the_stored_results_give(block: DocumentBlock) -> None:
    figures = {name: read(name) for name in block.parts}
    assert block.parts <= set(PARTS)
    assert None not in figures.values()
    assert list(block.drift(figures)) == []


def test_every_template_is_shown_somewhere_and_every_part_in_some_template() -> None:
    templates = {p.relative_to(TEMPLATES).as_posix() for p in TEMPLATES.rglob("*.j2")}
    assert templates == {block.template for block in BLOCKS}
    assert set().union(*(block.parts for block in BLOCKS)) == set(PARTS)
    assert {path.stem for path in RESULTS.glob("*.json")} == set(PARTS)


def test_marks_of_blocks_come_in_pairs() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        lines = [line.strip() for line in document.read_text().split("\n")]
        begun = sum(BEGIN.fullmatch(line) is not None for line in lines)
        assert begun == lines.count(END) == len(blocks_of(document)), document.name


@pytest.mark.parametrize("part", [p for p in PARTS.values() if p.cheap], ids=lambda p: p.name)
def test_a_cheap_part_is_what_is_stored(part: Part, tmp_path: Path) -> None:
    assert not part.traces
    fresh = rounded(part.make(Workplace(tmp_path, None)))
    assert list(drift(read(part.name), fresh)) == []


def test_a_drift_of_stored_figures_is_told_with_its_place() -> None:
    stored = {"a": {"b": [0.5, 1]}, "c": 1.0, "d": "x"}
    fresh = {"a": {"b": [0.5000001, 2]}, "c": 1.1, "e": None}
    assert list(drift(stored, fresh)) == [
        "a.b[1]: said 1, found 2",
        "c: said 1.0, found 1.1",
        "d: said 'x', found 'nothing'",
        "e: said 'nothing', found None",
    ]
    assert list(drift({"c": 1.0}, {"c": 1})) == ["c: said 1.0, found 1"]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a README of one block, whose part `sizes` finds 2 GiB where 1 GiB is said."""
    templates, results = tmp_path / "templates", tmp_path / "results"
    for folder in (templates, results, tmp_path / "docs", tmp_path / "studies"):
        folder.mkdir()
    (templates / "needs.md.j2").write_text("It needs\n{{ sizes.least | size }}.\n")
    (results / "sizes.json").write_text('{"least": 1073741824}')
    readme = tmp_path / "README.md"
    readme.write_text(f"# A house\n\n<!-- figures: needs -->\nIt needs\n1.0 GiB.\n{END}\n\nEnd.\n")
    part = Part("sizes", "all", 1, lambda place: {"least": 2 << 30})
    monkeypatch.setattr(blocks, "ROOT", tmp_path)
    monkeypatch.setattr(blocks, "TEMPLATES", templates)
    monkeypatch.setattr("studies.figures.rendering.TEMPLATES", templates)
    monkeypatch.setattr("studies.figures.stored.RESULTS", results)
    monkeypatch.setattr("studies.figures.registry.PARTS", {"sizes": part})
    monkeypatch.setattr(command, "PARTS", {"sizes": part})
    from studies.figures.rendering import environment

    environment.cache_clear()
    yield tmp_path
    environment.cache_clear()


def test_figures_that_differ_are_told_line_by_line(
    house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["sizes"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "studies/figures/results/sizes.json: least: said 1073741824, found 2147483648",
        "README.md:5: said '1.0 GiB.', found '2.0 GiB.'",
    ]
    assert "1.0 GiB" in (house / "README.md").read_text()


def test_figures_that_differ_are_written_where_that_is_asked(house: Path) -> None:
    assert command.main(["--write"]) == 0
    text = f"# A house\n\n<!-- figures: needs -->\nIt needs\n2.0 GiB.\n{END}\n\nEnd.\n"
    assert (house / "README.md").read_text() == text
    assert command.main([]) == 0


def test_a_part_without_its_trace_is_skipped_with_a_line(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Part("sizes", "all", 1, lambda place: {}, traces=("hours/trace.jsonl",))
    monkeypatch.setattr("studies.figures.registry.PARTS", {"sizes": part})
    monkeypatch.setenv("MILEPOST_SHARED", str(house))
    assert command.main([]) == 0
    line = "sizes: skipped, no hours/trace.jsonl (set MILEPOST_SHARED)\n"
    assert capsys.readouterr().out == line


def test_a_block_without_an_end_or_a_template_is_refused(house: Path) -> None:
    readme = house / "README.md"
    readme.write_text("<!-- figures: needs -->\n1 GiB\n")
    with pytest.raises(BrokenBlockError, match=r"README.md:1: expected <!-- end figures -->"):
        blocks_of(readme)
    readme.write_text(f"<!-- figures: unknown -->\n{END}\n")
    with pytest.raises(BrokenBlockError, match=r"no template unknown\.md\.j2"):
        blocks_of(readme)


def test_figures_are_told_in_the_project_s_formats_and_the_best_of_a_table_is_bold() -> None:
    filters = rendering.environment().filters
    known = {"value": 0.0676, "low": 0.0548, "high": 0.0804}
    alone = {"value": 0.0676, "low": None, "high": None}
    assert filters["points"](known) == "6.8 points [5.5, 8.0]"
    assert filters["interval"](known) == "6.8 [5.5, 8.0]"
    assert filters["interval"](alone) == "6.8"
    assert filters["percent"](0.606) == "60.6 %"
    assert filters["interval"](filters["opposite"](known)) == "-6.8 [-8.0, -5.5]"
    assert filters["tenths"](-0.04) == "0.0"
    assert filters["rows"]([("`a`", {"x": 0.501, "y": 0.2}), ("`b`", {"x": 0.5009, "y": 0.3})]) == [
        "| `a` | **50.1 %** | 20.0 % |",
        "| `b` | **50.1 %** | **30.0 %** |",
    ]


def test_the_list_tells_parts_where_they_are_shown_and_what_is_not_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--list"]) == 0
    output = capsys.readouterr().out
    line = next(line for line in output.splitlines() if " comparison " in line)
    assert line.endswith("README.md, studies/comparison.toml")
    assert "Not made here" in output


def test_parts_are_chosen_by_name_or_group() -> None:
    assert [part.name for part in chosen([])] == list(PARTS)
    assert [part.name for part in chosen(["comparison"])] == ["comparison"]
    assert {part.group for part in chosen(["gallery"])} == {"gallery"}
    assert command.main(["no_such_part"]) == 2
