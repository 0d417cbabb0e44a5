"""Tests that a page type in one short file is stored and shown like the built-in ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.cli import exit_code
from reports.commands.report import ReportAgainCommand
from reports.pages import KEPT
from reports.report.showing import show
from reports.report.store import store
from tests.reports.browser import assert_sound, look_at
from tests.reports.pages import waits

FOUND = {"trace": "<b>chats</b>", "waits_seconds": [0.0, 0.5, 0.25, 4.0], "coarse_clock": True}


def test_it_is_one_short_file() -> None:
    assert len(Path(waits.__file__).read_text().splitlines()) <= 60


def test_terminal_page_and_json_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = waits.waits_report(FOUND)
    show(made, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    show(made, as_json=True)
    document = json.loads(capsys.readouterr().out)
    page = store(made, tmp_path).read_text()
    assert text.startswith("The longest wait is 4.00 s. Quantiles Share Waits at most 50 % 250 ms")
    assert document["answer"] == made.answer == "The longest wait is 4.00 s."
    assert document["waits_seconds"] == FOUND["waits_seconds"]
    assert document["caveats"] == list(made.caveats)
    assert f"note: {made.caveats[0]}" in text
    assert "<strong>4.00 s</strong>" in page
    assert "How long requests of &lt;b&gt;chats&lt;/b&gt; wait" in page
    assert made.caveats[0] in page
    assert_sound(look_at(page, tmp_path), 1)


def test_a_folder_is_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(KEPT, waits.FILE, waits.kept_report)
    page = store(waits.waits_report(FOUND), tmp_path)
    before = page.read_bytes()
    page.unlink()
    assert exit_code(ReportAgainCommand(folder=tmp_path, images="svg").run) == 0
    assert page.read_bytes() == before
    image = tmp_path / "charts" / "waits.svg"
    assert capsys.readouterr().out.splitlines() == [str(page), str(image)]
    assert image.read_text().startswith("<svg")
