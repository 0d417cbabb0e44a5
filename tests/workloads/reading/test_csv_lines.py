from __future__ import annotations

import msgspec
import pytest

from simulator.base.errors import DataError
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.csv_lines import Name, read_csv_lines
from workloads.rows import Rows


class Line(msgspec.Struct):
    count: int = msgspec.field(name="Some tokens")
    time: float | None = None
    name: Name | None = None


def test_a_name_has_a_limit(tmp_path):
    with pytest.raises(DataError, match=r":2: field 'name': .*length <= 200.*, found 'xxxx"):
        read(tmp_path, "Some tokens,name\n1," + 201 * "x" + "\n")


def read(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    taken = []

    def take(line, number):
        taken.append((number, line.count, line.time, line.name))

    read_csv_lines(path, Rows(BlockKeys(1)), Line, take)
    return taken


def test_cells_are_read_by_their_names(tmp_path):
    text = 'name,"Some tokens",other,time\n"a, ""b""",3,x,1.5\n, 4 ,,\n\n"5",6,7,8e3\n'
    assert read(tmp_path, text) == [
        (2, 3, 1.5, 'a, "b"'),
        (3, 4, None, None),
        (5, 6, 8000.0, "5"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1.5,", "field 'Some tokens': expected a whole number, found '1.5'"),
        ("012,", "field 'Some tokens': expected a whole number, found '012'"),
        ("1_0,", "field 'Some tokens': expected a whole number, found '1_0'"),
        ("\u0663,", "field 'Some tokens': expected a whole number, found '\u0663'"),
        ("nan,", "field 'Some tokens': expected a whole number, found 'nan'"),
        (",1", "field 'Some tokens': expected this field, found none"),
        ("1,now", "field 'time': expected a number, found 'now'"),
        ("1,1e999", "field 'time': expected a number within range, found '1e999'"),
        ("1", "expected 2 cells as in the first line, found 1"),
        ("1,2,3", "expected 2 cells as in the first line, found 3"),
        ('"1,2', "found broken quotes"),
        ('"1"2,3', "found broken quotes"),
        (b"1,\xff", "can't decode"),
    ],
)
def test_a_bad_cell_is_named_with_what_it_holds(tmp_path, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(DataError) as caught:
        read(tmp_path, b"Some tokens,time\n1,2\n" + line + b"\n")
    assert str(caught.value).startswith(f"{tmp_path / 't.csv'}:3: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected names of columns separated by commas, with Some tokens; found ''"),
        ("Some tokens\n", "expected lines below the names of the columns, found none"),
        ("Some tokens;time\n1;2\n", "found 'Some tokens;time'"),
        ("Some tokens,time,Some tokens\n1,2,3\n", "expected each column once, found it twice"),
        ('"Some tokens\n1\n', "found broken quotes"),
    ],
)
def test_a_table_without_its_columns_is_refused(tmp_path, text, message):
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
