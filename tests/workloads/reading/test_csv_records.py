from __future__ import annotations

import gzip

import pytest

from simulator.base.errors import DataError
from workloads.prefixes.prompts import TokenLists
from workloads.reading.csv_records import read_csv_records
from workloads.rows import Rows


def records(path, wanted=("a",), on_bad_line="fail"):
    rows, taken = Rows(TokenLists(), on_bad_line), []

    def take(record, line):
        if record["a"] == "bad":
            return "a", "expected something else"
        taken.append((line, record))
        return None

    read_csv_records(path, rows, wanted, take)
    return taken, rows


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_cells_may_hold_commas_quotes_and_line_breaks(write):
    path = write('\ufeffa,b\r\n"one, two","say ""so"""\r\n\r\n"1\n2\n\n3",x\r\n last ,')
    assert records(path)[0] == [
        (2, {"a": "one, two", "b": 'say "so"'}),
        (4, {"a": "1\n2\n\n3", "b": "x"}),
        (8, {"a": " last ", "b": ""}),
    ]


def test_long_cells_and_gzip_are_fine(write):
    long = "x" * 1_000_000
    assert records(write(gzip.compress(f"a\n{long}\n".encode())))[0] == [(2, {"a": long})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1;2\n", ":1: expected names of columns separated by commas, with a; found 'a;b'"),
        ("", ":1: expected names of columns separated by commas"),
        ('"a\n1,2\n', ":1: expected names of columns separated by commas"),
        ("a,b,b\n1,2,3\n", "field 'b': expected each column once"),
        ("a,b\n", "expected lines below the names of the columns, found none"),
        ("a,b\n1,2\n1\n", ":3: expected 2 cells as in the first line, found 1"),
        ('a,b\n1,"2\n3', ":2: expected cells separated by commas, found broken quotes"),
        ('a,b\n1,"2"3\n', ":2: expected cells separated by commas, found broken quotes"),
        ("a\n1\nbad\n", ":3: field 'a': expected something else"),
        (b"a\n1\n\xff\n", ":3: expected text in UTF-8"),
    ],
)
def test_what_is_no_table_is_one_line(write, text, message):
    path = write(text)
    with pytest.raises(DataError) as caught:
        records(path)
    assert str(caught.value).startswith(f"{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_records_are_skipped_and_the_others_kept(write):
    path = write('a,b\n1,2\nbad,2\n1\n1,"2"3\n4,5\n')
    taken, rows = records(path, on_bad_line="skip")
    assert [line for line, _ in taken] == [2, 6]
    assert rows.bad_lines == 3
