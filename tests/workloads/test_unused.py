from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any

import msgspec
import pytest

from simulator.base.errors import DataError
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.json_document import read_json_documents
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.unused import MOST_COUNTED, MOST_SHOWN, UnusedFields


class Flat(msgspec.Struct, rename={"output": "out"}):
    a: int
    output: int = 0


class Part(msgspec.Struct):
    role: str


class Nested(msgspec.Struct):
    parts: list[Part] | None = None
    inner: Nested | str | None = None


def read(tmp_path, kind, text, reader=read_json_lines):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    rows, taken = Rows(BlockKeys(1)), []
    reader(path, rows, kind, lambda line, number: taken.append(line))
    return rows, taken


def counts(rows):
    return {path: (tally.count, tally.first_line) for path, tally in rows.unused.counts.items()}


def test_fields_of_flat_rows_are_counted_and_values_stay(tmp_path):
    text = (
        '{"a":1}\n{"a":2,"b":[1],"out":5}\n{"c":"x","a":3,"b":0}\n{"a":4,"d":null}\n{"a":5,"c":2}'
    )
    rows, taken = read(tmp_path, Flat, text)
    assert [(line.a, line.output) for line in taken] == [(1, 0), (2, 5), (3, 0), (4, 0), (5, 0)]
    assert counts(rows) == {"b": (2, 2), "c": (2, 3)}  # what is null is not there
    assert rows.unused.fact() == "not used: `b` (2 rows), `c` (2 rows)"


def test_more_fields_than_are_learnt_and_names_with_escapes_are_counted(tmp_path):
    lines = [f'{{"a":1,"x{at}":1,"q\\"":2}}' for at in range(50)]
    rows, taken = read(tmp_path, Flat, "\n".join(lines * 2))
    assert len(taken) == 100
    assert counts(rows) == {'q"': (100, 1)} | {f"x{at}": (2, at + 1) for at in range(50)}


def test_nested_fields_have_a_path_and_count_once_a_row(tmp_path):
    text = (
        '{"parts":[{"role":"u","name":"n"},{"role":"v","name":"m"}],"inner":{"parts":[],"z":1}}\n'
        '{"parts":[{"role":"u","name":null}],"inner":"text"}\n'
        '{"inner":{"inner":{"parts":[{"role":"w","name":"o"}]}}}\n'
    )
    rows, _ = read(tmp_path, Nested, text)
    assert counts(rows) == {
        "parts[].name": (1, 1),
        "inner.z": (1, 1),
        "inner.inner.parts[].name": (1, 3),
    }


def test_objects_of_a_document_count_each_time(tmp_path):
    text = '{"parts":[{"role":"u","name":"n"},{"role":"v","name":"m"}], "extra": 1}'
    rows, _ = read(tmp_path, Nested, text, read_json_documents)
    assert rows.unused.fact() == "not used: `parts[].name` (2 times), `extra` (1 time)"


def test_a_list_of_records_has_their_paths(tmp_path):
    text = ' [{"a":1,"b":2},{"a":1}]'
    rows, _ = read(tmp_path, list[Flat], text, read_json_documents)
    assert rows.unused.fact() == "not used: `b` (1 time)"


def test_the_second_document_of_a_kind_is_read_as_the_first(tmp_path):
    for name in ("a.json", "b.json", "c.json"):
        (tmp_path / name).write_text('[{"a":1,"b":2},{"a":1,"model":"m"},{"b":2,"a":2}]')
    rows, taken = Rows(BlockKeys(1)), []
    read_json_documents(tmp_path, rows, list[Flat], lambda line, number: taken.extend(line))
    assert [line.a for line in taken] == [1, 1, 2] * 3
    assert rows.unused.fact() == "not used: `b` (6 times), `model` (3 times)"


class Tagged(msgspec.Struct, tag="t", tag_field="kind", frozen=True):
    x: Annotated[int, msgspec.Meta(ge=0)]
    parts: tuple[Part, ...] = ()


class Other(msgspec.Struct, tag="o", tag_field="kind"):
    y: float = msgspec.field(name="Y")
    more: dict[str, Part] = {}


class Mixed(msgspec.Struct):
    one: Tagged | Other | None = None
    many: list[Tagged | Other] = []
    again: list[list[Part]] = []


def test_types_within_types_are_read_as_they_are_and_looked_into(tmp_path):
    line = {
        "one": {"kind": "o", "Y": 1, "z": 1, "more": {"a": {"role": "r", "deep": 1}}},
        "many": [{"kind": "t", "x": 2, "parts": [{"role": "r", "q": 0}]}, {"kind": "o", "Y": 2}],
        "again": [[{"role": "r", "w": None}], [{"role": "s", "v": 2}]],
    }
    text = "\n".join([json.dumps(line)] * 5)
    rows, taken = read(tmp_path, Mixed, text)
    plain = msgspec.convert(line, Mixed)
    assert [msgspec.to_builtins(each.one)["Y"] for each in taken] == [1] * 5
    for each in taken:
        assert isinstance(each.one, Other)
        assert each.many[0].parts[0].role == plain.many[0].parts[0].role == "r"
    expected = {"one.z", "many[].parts[].q", "again[][].v"}
    assert counts(rows) == dict.fromkeys(expected, (5, 1))
    with pytest.raises(DataError, match=r"field 'many\[0\]\.x': Expected `int` >= 0"):
        read(tmp_path, Mixed, text + '\n{"many":[{"kind":"t","x":-1}]}')


def test_a_wrong_value_beside_an_unknown_field_is_the_same_error(tmp_path):
    with pytest.raises(DataError, match=r"t\.jsonl:2: field 'a': expected a whole number"):
        read(tmp_path, Flat, '{"a":1,"b":2}\n{"b":1,"a":"x"}')


def test_names_are_bounded_and_safe_to_print():
    unused = UnusedFields()
    unused.add(["\x1b[31m`red`\n" + "x" * 500], 1)
    for at in range(MOST_COUNTED + 10):
        unused.add([f"n{at}"], at + 2)
    assert len(unused.counts) == MOST_COUNTED
    assert unused.others == 11
    fact = unused.fact()
    assert fact is not None
    assert fact.isprintable()
    assert fact.count("`") == 2 * MOST_SHOWN
    assert len(fact) < 400
    assert fact.endswith(f"and more than {MOST_COUNTED - MOST_SHOWN:,} more")
    anomalies = list(unused.anomalies())
    assert len(anomalies) == MOST_SHOWN + 1
    assert sum(each.count for each in anomalies) == MOST_COUNTED + 11


def test_the_most_frequent_come_first_and_the_rest_is_counted():
    unused = UnusedFields()
    for at in range(MOST_SHOWN + 3):
        for _ in range(at + 1):
            unused.add([f"n{at}"], 7)
    fact = unused.fact()
    assert fact is not None
    assert fact.startswith("not used: `n14` (15 rows), `n13` (14 rows)")
    assert fact.endswith("and 3 more")


def test_what_a_format_needs_not_is_left_out():
    unused = UnusedFields()
    unused.add(["id", "calls[].id", "calls[].function.id", "void", "model_id"], 1)
    unused.forget({"void": "", "*.calls[].id": ""})
    assert list(unused.counts) == ["id", "calls[].function.id", "model_id"]
    unused.forget({"*.id": ""})
    assert list(unused.counts) == ["model_id"]
    unused.forget({"model_id": ""})
    assert unused.fact() is None
    assert list(unused.anomalies()) == []


class Timed(msgspec.Struct, gc=False, kw_only=True):
    time: msgspec.Raw = msgspec.Raw(b"null")


class Wide(Timed, gc=False, kw_only=True, rename={"text": "in"}):
    text: str
    deep: list[Wide | str] | Wide | str | None = None
    pair: tuple[int, Wide] | None = None
    attributes: dict[str, Any] | list[dict[str, Any]] = {}


class Left(msgspec.Struct, tag=True, frozen=True, omit_defaults=True):
    a: int
    sizes: set[int] = msgspec.field(default_factory=set)


class Right(msgspec.Struct, tag=True):
    b: Decimal


class Choice(msgspec.Struct):
    x: Left | Right | list[Left] | None = None


WIDE = {"in": "x", "time": 5, "deep": [{"in": "z", "w": 2}, "s"], "pair": [1, {"in": "q", "v": 3}]}


@pytest.mark.parametrize(
    ("kind", "values", "unused"),
    [
        (
            Wide,
            [{"in": "a"}, WIDE, WIDE, {"in": "q", "deep": {"in": "o", "w": 1}}, WIDE],
            "`deep[].w` (3 rows), `pair[].v` (3 rows), `deep.w` (1 row)",
        ),
        (
            Wide | list[Wide],
            [[WIDE], WIDE, [WIDE, WIDE]],
            "`deep[].w` (3 rows), `pair[].v` (3 rows)",
        ),
        (
            Choice,
            [
                *[{"x": {"type": "Left", "a": 1, "z": 1}}] * 2,
                {"x": {"type": "Right", "b": "1.5", "q": 1}},
                *[{"x": [{"type": "Left", "a": 1, "k": 1}]}] * 2,
            ],
            "`x.z` (2 rows), `x[].k` (2 rows), `x.q` (1 row)",
        ),
    ],
)
def test_records_of_any_type_are_what_they_would_be(tmp_path, kind, values, unused):
    text = "\n".join(map(json.dumps, values))
    rows, taken = read(tmp_path, kind, text)
    assert rows.unused.fact() == f"not used: {unused}"
    for got, line in zip(taken, text.splitlines(), strict=True):
        plain = msgspec.json.decode(line, type=kind)
        assert msgspec.json.encode(got) == msgspec.json.encode(plain)


def test_a_record_of_plain_values_is_not_looked_into(tmp_path):
    rows, taken = read(tmp_path, dict[str, Any], '{"a":1}')
    assert taken == [{"a": 1}]
    assert rows.unused.fact() is None
