"""Fields of keys: a reader that decodes field by field declares every one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.prefixes.key_fields import NAMES, Keyed

DECLARED = [name for kind in ("salt", "lora", "model") for name in NAMES[kind] if "." not in name]


def test_every_field_of_a_key_is_declared() -> None:
    assert sorted(Keyed.__struct_fields__) == sorted(DECLARED)


@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.parametrize("kind", ["aibrix", "aiperf"])
def test_a_key_within_a_row_keeps_prefixes_apart(tmp_path: Path, kind: str, name: str) -> None:
    def row(at: int, value: str) -> dict[str, object]:
        if kind == "aibrix":
            asked = {"prompt": "a b c", "output_length": 3, name: value}
            return {"timestamp": at, "requests": [asked]}
        return {"session_id": f"s{at}", "turns": [{"text": "a b c", "timestamp": at, name: value}]}

    path = tmp_path / "trace.jsonl"
    for values, shared in ((("x", "y"), False), (("x", "x"), True)):
        rows = [row(at, value) for at, value in enumerate(values)]
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        trace = open_trace(path, format=kind, tokenizer="bytes")
        assert bool(overlaps(trace)[1]) == shared
