"""Tables in a terminal: folded, never cut, with every column, whatever the width."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.console import FEWEST_COLUMNS, minutes_text, print_table

WIDTHS = (60, 80)
LONG = "optimal:budget=16,window=12345,replan=500 · prefix_lru:half_life=3600"


def printed(
    width: object,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *table: Any,
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(*table)
    return capsys.readouterr().out.splitlines()


def letters(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("columns", [2, 4, 8, 13])
def test_nothing_is_cut_and_no_line_is_too_long(
    width: int,
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head = [f"a long heading {n}" for n in range(columns)]
    rows = [[f"{row} {LONG}", *(f"{row}.{n:02} points" for n in range(1, columns))] for row in "ab"]
    lines = printed(width, capsys, monkeypatch, head, rows)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    for row in rows:
        assert all(word in text for cell in row[1:] for word in cell.split())  # figures stay whole
    counts = letters(text)
    assert all(word in text for name in head[1:] for word in name.split())
    assert all(counts.count(letter) >= letters(LONG).count(letter) * 2 for letter in letters(LONG))


def test_what_fits_is_a_table_and_what_does_not_is_a_list_of_each_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    head = ("policy", *(f"figure {n}" for n in range(6)))
    rows = [(LONG, *("12,345,678" for _ in range(6)))]
    wide = printed(160, capsys, monkeypatch, head, rows)
    assert [line.split()[0] for line in wide] == ["policy", *(w.split()[0] for w in wide[1:])]
    narrow = printed(60, capsys, monkeypatch, head, rows)
    assert [line.split()[-1] for line in narrow[-6:]] == ["12,345,678"] * 6
    assert [" ".join(line.split()[:2]) for line in narrow[-6:]] == list(head[1:])


@pytest.mark.parametrize("width", ["0", "", "-5", "wide", "1", "99999999999999999999", "²"])
def test_a_strange_width_is_no_reason_to_fail(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(width, capsys, monkeypatch, ("name", "of", "it"), [("a", "b", "c")])
    assert letters("".join(lines)).endswith("abc")


@given(
    rows=st.lists(
        st.tuples(*[st.text(st.sampled_from("ab:=,. ·12"), min_size=1, max_size=90)] * 5),
        min_size=1,
        max_size=3,
    ),
    width=st.sampled_from([FEWEST_COLUMNS, 40, *WIDTHS]),
)
def test_every_letter_of_every_cell_is_there(rows: list[tuple[str, ...]], width: int) -> None:
    import contextlib
    import io

    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("COLUMNS", str(width))
        print_table(("v", "w", "x", "y", "z"), rows)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for letter in "ab:=,.·12":
        assert text.count(letter) == sum(cell.count(letter) for row in rows for cell in row)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        ((0.02,), "under a minute"),
        ((3.21,), "about 3.2 min"),
        ((0.4, 12.3), "about 0.4 to 12 min"),
        ((9.2, 4_321.0), "about 9.2 to 4,321 min"),
    ],
)
def test_minutes_of_an_estimate_have_as_many_digits_as_help(
    minutes: tuple[float, ...], text: str
) -> None:
    assert minutes_text(*minutes) == text
