"""`docs/study.md`: every key of a study file, written from the models that read it.

`python -m reports.study.documentation` writes the file again.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reports.study.file import grid_keys
from reports.study.generated import generator_fields
from reports.study.sections import ResolvedStudy
from reports.study.workload_grid import WORKLOADS

FILE = Path(__file__).parents[2] / "docs" / "study.md"
_HEAD = "| key | what is written | unit | default | bounds | meaning |\n|" + 6 * " --- |"
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
}
_KNOBS = {
    "requests": "How many requests are generated.",
    "drift": "How much contents change over the trace; of another generator than the built-in one, "
    "a text as in `shift:distance=0.3,at=0.5`.",
}
_START = """\
# A study file

A study is a TOML file: what is replayed, through what cache, and what varies. `milepost sweep`,
`capacity`, `drift` and `run` take one; `milepost new` writes one to begin with, and
[studies](../studies) holds more. All keys have defaults. `--set KEY=VALUE` replaces any of them,
and so does a flag of the same meaning. `--trace FILE` replaces the whole workload: `[workload]`,
`[arrivals]` and what the grid varies of them are not used then, and a trace is replayed once.

Sizes, times and shares are texts with their units, or bare numbers of the unit below. Whatever is
wrong is told in one line with its file and key, and with exit code 2.

This file is written from the models in `reports/study/sections.py` by
`python -m reports.study.documentation`.
"""


def document() -> str:
    """Return the text of `docs/study.md`."""
    schema = ResolvedStudy.model_json_schema()
    parts = [_START, _HEAD, _row("title", schema["properties"]["title"])]
    for name, reference in schema["properties"].items():
        section = schema["$defs"].get(str(reference.get("$ref", "")).rpartition("/")[2])
        if section is not None:
            parts += ["", f"## [{name}]", "", _paragraph(section["description"]), "", _HEAD]
            parts += [_row(k, field) for k, field in section["properties"].items() if k != "knobs"]
            parts += [*_knobs()] if name == "workload" else []
    return "\n".join([*parts, *_grid()]) + "\n"


def _knobs() -> Iterator[str]:
    """Yield the table of the built-in workload's knobs."""
    from workloads.synthetic.builtin.limits import LIMITS
    from workloads.synthetic.builtin.spec import BuiltIn

    sentences = _parameters(inspect.getdoc(BuiltIn) or "") | _KNOBS
    yield "\nOf generated traffic; all but `requests` and `drift` of the built-in workload only:\n"
    yield _HEAD
    for name, default in generator_fields().items():
        low, high = LIMITS[name]
        kind = "whole number" if isinstance(low, int) else "number"
        yield _cells(name, kind, "", f"`{default}`", f"{low:,} to {high:,}", sentences[name])


def _grid() -> Iterator[str]:
    """Yield what the grid may vary."""
    keys = [key for key in grid_keys(generator_fields()) if key != WORKLOADS]
    yield "\n## [grid]\n"
    yield (
        'Keys in quotation marks with lists of values, as in `"policy.placer" = ["last", '
        '"adaptive"]`: every combination is run. One key cannot be both set and varied. '
        "`[[grid.workload]]` is a whole workload with keys of its own, and may stand several "
        "times. What may vary:\n"
    )
    yield ", ".join(f"`{key}`" for key in keys) + "."


def _row(name: str, field: Mapping[str, Any]) -> str:
    """Return the row of one key."""
    plain = [option for option in field.get("anyOf", [field]) if option.get("type") != "null"]
    schema = {**plain[0], **field}
    if "enum" in schema:
        kind = ", ".join(f"`{value}`" for value in schema["enum"])
    else:
        kind = schema.get("kind") or _KINDS[schema["type"]]
    default = schema.get("default")
    shown = "" if default in (None, "") else f"`{_plain(default)}`"
    if name == "capacity":
        shown = "`unbounded`"
    bounds = schema.get("bounds") or _bounds(schema)
    return _cells(name, kind, schema.get("unit", ""), shown, bounds, schema["description"])


def _bounds(schema: Mapping[str, Any]) -> str:
    """Return the bounds of a number, or of the length of a text."""
    if "maxLength" in schema:
        return f"up to {schema['maxLength']:,} characters"
    above = schema.get("gt", schema.get("exclusiveMinimum"))
    below = schema.get("lt", schema.get("exclusiveMaximum"))
    low, high = schema.get("ge", schema.get("minimum")), schema.get("le", schema.get("maximum"))
    ends = [
        *([f"above {_number(above)}"] if above is not None else []),
        *([f"{_number(low)}"] if low is not None else []),
        *([f"below {_number(below)}"] if below is not None else []),
        *([f"{'' if low is not None else 'up to '}{_number(high)}"] if high is not None else []),
    ]
    return " to ".join(ends) if low is not None else ", ".join(ends)


def _number(value: float) -> str:
    if value == 2**63 - 1:
        return "2**63 - 1"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cells(*texts: str) -> str:
    shown = [f"`{texts[0]}`", *texts[1:]]
    return f"| {' | '.join(_paragraph(text).replace('|', chr(92) + '|') for text in shown)} |"


def _paragraph(text: str) -> str:
    return " ".join(text.split())


def _parameters(docstring: str) -> dict[str, str]:
    """Return what a docstring in numpy's style says of each parameter."""
    section = docstring.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    meanings: dict[str, str] = {}
    for names, text in re.findall(r"^(\S.*)\n((?:    .*\n?)+)", section, re.MULTILINE):
        meanings |= {name.strip(): _paragraph(text) for name in names.split(",")}
    return meanings


if __name__ == "__main__":
    from simulator.base.files import write_text

    write_text(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE, document())
