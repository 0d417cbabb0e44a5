"""The pages that commands write: where they may go, and how a reader makes them again."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from reports.commands.again import TYPED, typed_again
from tests.reports.cli.conftest import Milepost

MOST_BYTES = 2_000_000


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "a trace.jsonl"
    rows = [
        {"timestamp": n, "input_length": 512, "output_length": 9, "hash_ids": [n % 5]}
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("words", [("place", "--from-trace"), ("trace", "inspect")])
@pytest.mark.parametrize("name", ["x.pdf", "x.PDF", "x.png", "x.htmlx", "x", "x.html.gz"])
def test_a_page_is_html_or_is_refused_before_anything_is_read(
    milepost: Milepost, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    ended = milepost(*words, tmp_path / "missing.jsonl", "--page", tmp_path / name)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "--page: a page is HTML: expected a name that ends in .html" in ended.err
    assert ("prints it as a PDF" in ended.err) == name.lower().endswith(".pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "again"),
    [
        (
            ("place", "--from-trace", "TRACE", "--page", "PAGE", "--json"),
            "milepost place --from-trace 'TRACE' --page PAGE.html",
        ),
        (
            ("trace", "inspect", "TRACE", "--page=PAGE"),
            "milepost trace inspect 'TRACE' --page=PAGE.html",
        ),
        (
            ("profiles", "show", "qwen3.5-9b-h200", "--out", "PAGE"),
            "milepost profiles show qwen3.5-9b-h200 --out PAGE.html",
        ),
    ],
)
def test_every_page_says_once_how_it_is_made_again(
    milepost: Milepost, trace: Path, tmp_path: Path, words: tuple[str, ...], again: str
) -> None:
    out = tmp_path / "page.HTML" if "PAGE" not in words[-1:] else tmp_path / "page.html"
    given = [word.replace("TRACE", str(trace)).replace("PAGE", str(out)) for word in words]
    ended = milepost(*given)
    assert ended.code == 0, ended.err
    page = out.read_text()
    assert page.count('<h2 id="again">') == 1
    (command,) = re.findall(r'<pre class="command"[^>]*><code>(.*?)</code>', page)
    assert unescape(command) == again.replace("TRACE", str(trace))
    assert len(page.encode()) < MOST_BYTES


def test_a_drift_page_keeps_its_command(milepost: Milepost, tmp_path: Path) -> None:
    words = ("--generator", "chats:count=3", "--requests", "600", "--window", "20,40")
    assert milepost("drift", *words, "--out", tmp_path / "out", "-q").code == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"<code>milepost drift {' '.join(words)} --out DIR</code>" in page
    assert milepost("report", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_from_python_nothing_was_typed() -> None:
    TYPED.set(())
    assert typed_again("milepost place") == "milepost place"
    TYPED.set(("place", "--out", "a", "--page", "b.html", "-q", "--budget=3"))
    assert typed_again("") == "milepost place --out DIR --page PAGE.html --budget=3"
