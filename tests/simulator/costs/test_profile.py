from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.base.errors import DataError, UsageError
from simulator.costs.profile import drawn, load_profile, parse_profile, profile_to_json

ABSENT = object()

WHOLE: dict[str, Any] = {
    "schema_version": 1,
    "profile_id": "toy-gpu",
    "kind": "measured",
    "source": "a test",
    "licence": "Apache-2.0",
    "created": "2026-11-30T10:00:00",
    "seed": 7,
    "hardware": {
        "name": "A GPU",
        "driver": "580.1",
        "memory": 10**11,
        "ceilings": {"gemm_tflops": 600, "d2d_gbps": 2000.5},
        "clocks": {"sm_mhz": [1980, 1980]},
    },
    "software": {"torch": "2.9", "transformers": "5.17", "kernels": "fla", "mode": "graph"},
    "model": {
        "name": "toy",
        "config_sha256": "0" * 64,
        "layer_types": {"recurrent": 3, "attention": 1},
        "dimensions": {"hidden": 1024},
        "parameters": 10**6,
        "weights": "random",
        "scale": "group x 3",
    },
    "state": {
        "ssm_bytes": 1000,
        "conv_bytes": 24,
        "dtypes": {"ssm": "float32"},
        "bytes_per_checkpoint": 1024,
        "alignment": 64,
    },
    "kv": {"bytes_per_token": 32, "dtype": "bfloat16", "block_tokens": 16},
    "prefill": {
        "c": [0, 1024],
        "n": [1, 1],
        "median": [5.0, 6],
        "quartiles": [[4.5, 5.5], [6, 6]],
        "F": {"n": [1, 64, 128], "us": [10, 9.5, 20.0], "interpolation": "linear"},
        "e_us_per_pair": 2e-4,
        "g_us_per_token": 0.0,
        "fitted": [4.8, 5.9],
        "draws": [
            {"us": [9, 10, 22.0], "e_us_per_pair": 1e-4},
            {"us": [11, 10, 19.0], "e_us_per_pair": 3e-4, "g_us_per_token": 0.5},
        ],
        "floor_eager_us": 9.0,
        "floor_graph_us": None,
        "valid": {"n_max": 128, "c_max": 1024},
    },
    "batching": {"efficiency": [1.0, 0.5]},
    "decode": None,
    "checkpoint": {"cut_overhead": 12.5, "snapshot_us_per_mib": 0.5},
    "io": {
        "d2d": {"latency_us": 1, "gbps": 2000},
        "d2h": {"latency_us": 10, "gbps": 50},
        "h2d": {"latency_us": 10, "gbps": 50},
        "disk": {"latency_us": 100, "gbps": 6},
    },
    "validation": {
        "held_out": [
            {
                "regime": "linear",
                "points": 12,
                "mean": 0.04,
                "bias": -0.01,
                "worst": -0.1,
                "worst_c": 1024,
                "worst_n": 65,
                "noise": 0.01,
            }
        ],
        "outliers": [{"c": 0, "n": 1, "error": 0.3}],
        "band": 0.02,
        "warnings": ["one layer group was measured"],
        "notes": {"launches": 40},
    },
    "exactness": {"fp32_max_abs": 1e-6, "bug_max_abs": 0.3, "bf16_argmax_agreement": 0.99},
    "kv_compression": {"share": [0.5]},
}


def changed(field: str, value: object) -> dict[str, Any]:
    data = copy.deepcopy(WHOLE)
    *path, last = field.split(".")
    place = data
    for name in path:
        place = place[name]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return data


def fault_of(call: Callable[[], object]) -> DataError:
    with pytest.raises(DataError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return caught.value


def test_whole_profile() -> None:
    profile = parse_profile(WHOLE, "toy.json")
    assert (profile.state_bytes, profile.kv_bytes_per_token) == (1024, 16)
    assert (profile.alignment, profile.page_tokens) == (64, 16)
    assert (profile.valid_n_max, profile.valid_c_max) == (128, 1024)
    assert profile.checkpoint.cut_overhead == 12.5
    assert profile.prefill.quartiles == ((4.5, 5.5), (6.0, 6.0))
    assert profile.io.disk is not None


def test_f_never_decreases() -> None:
    assert parse_profile(WHOLE, "toy.json").prefill.F.us == (10.0, 10.0, 20.0)


def test_a_draw_takes_the_place_of_the_fit() -> None:
    profile = parse_profile(WHOLE, "toy.json")
    other = drawn(profile, 1)
    assert other.prefill.F.us == (11.0, 11.0, 19.0)  # never decreasing either
    assert other.prefill.F.n == profile.prefill.F.n
    assert (other.prefill.e_us_per_pair, other.prefill.g_us_per_token) == (3e-4, 0.5)
    assert other.prefill.draws is None
    assert drawn(profile, 0).prefill.g_us_per_token == 0.0
    with pytest.raises(UsageError, match="numbered 2, found 2 draws"):
        drawn(profile, 2)


def test_optional_fields_may_be_absent_or_null() -> None:
    optional = [
        *("seed", "software", "batching", "decode", "validation", "exactness", "io.d2h"),
        *("io.disk", "io.h2d", "hardware.driver", "hardware.memory", "model.parameters"),
        *("hardware.ceilings", "state.dtypes", "kv.dtype", "prefill.floor_eager_us"),
        *("kv_compression", "prefill.draws", "prefill.fitted"),
    ]
    for field in optional:
        assert parse_profile(changed(field, ABSENT), "t") == parse_profile(
            changed(field, None), "t"
        )


def test_written_profiles_read_back(tmp_path: Path) -> None:
    profile = parse_profile(WHOLE, "toy.json")
    text = profile_to_json(profile)
    path = tmp_path / "toy.json"
    path.write_text(text, encoding="utf-8")
    assert load_profile(path) == profile
    assert profile_to_json(load_profile(str(path))) == text


REQUIRED = [
    *("profile_id", "kind", "source", "licence", "created", "schema_version", "hardware"),
    *("hardware.name", "model", "model.name", "state", "state.ssm_bytes", "state.conv_bytes"),
    *("state.bytes_per_checkpoint", "kv", "kv.bytes_per_token", "prefill", "prefill.F"),
    *("prefill.F.n", "prefill.F.us", "prefill.e_us_per_pair", "prefill.valid"),
    *("prefill.valid.n_max", "prefill.valid.c_max", "checkpoint", "checkpoint.cut_overhead"),
    *("checkpoint.snapshot_us_per_mib", "io", "io.d2d", "io.d2d.gbps", "io.d2d.latency_us"),
]


@pytest.mark.parametrize("field", REQUIRED)
def test_missing_fields(field: str) -> None:
    fault = fault_of(lambda: parse_profile(changed(field, ABSENT), "toy.json"))
    assert str(fault) == f"toy.json: field '{field}': missing"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("schema_version", 2, "expected 1: a newer Milepost has written this profile"),
        ("schema_version", 0, "expected 1, found 0"),
        ("schema_version", True, "expected 1, found true"),
        ("schema_version", "1", "expected 1"),
        ("kind", "guessed", "expected 'measured' or 'composed' or 'analytic' or 'toy'"),
        ("kind", None, "found null"),
        ("profile_id", "a b", "expected a name"),
        ("source", "", "expected a text of 1 to 4096 characters"),
        ("source", "a\nb", "expected a text of 1"),
        ("created", "yesterday", "expected a date"),
        ("seed", -1, "expected a number from 0"),
        ("hardware", [], "expected an object, found a list of 0"),
        ("hardware.memory", 2**61, "expected a number from 0 to"),
        ("hardware.clocks", {"a": [float("nan")]}, "expected a finite number, found nan"),
        ("state.alignment", 0, "expected a number from 1"),
        ("state.alignment", 64.0, "expected a whole number, found 64.0"),
        ("state.alignment", True, "expected a whole number, found true"),
        ("state.bytes_per_checkpoint", 1023, "less than ssm_bytes + conv_bytes"),
        ("state.ssm_bytes", -1, "found -1"),
        ("kv.bytes_per_token", "32", "expected a whole number, found '32'"),
        ("kv.bytes_per_token", 10**400, "found a huge number"),
        ("prefill.F", {"n": [1, 2, 3], "us": [1, 2]}, "3 in n and 2 in us"),
        ("prefill.F.n", [1, 64, 64], "expected ascending values, found 64 after 64"),
        ("prefill.F.n", [0, 64, 128], "expected a number from 1"),
        ("prefill.F.us", [1, 0, 2], "expected a number from 1e-06"),
        ("prefill.F.us", [1, float("inf"), 2], "expected a finite number, found inf"),
        ("prefill.F.us", [1, 10**400, 2], "expected a finite number, found a huge number"),
        ("prefill.F.us", {"0": 1}, "expected a list, found an object of 1"),
        ("prefill.F.interpolation", "cubic", "expected 'linear'"),
        ("prefill.F", {"n": [1], "us": [1.0]}, "at least 2"),
        ("prefill.F", {"n": [], "us": []}, "at least 2"),
        ("prefill.e_us_per_pair", float("nan"), "expected a finite number, found nan"),
        ("prefill.e_us_per_pair", -1e-9, "expected a number from 0"),
        ("prefill.median", [1.0], "differ in length"),
        ("prefill.median", None, "differ in length"),
        ("prefill.quartiles", [[1, 2], [3, 2]], "expected two ascending numbers"),
        ("prefill.valid.c_max", -5, "found -5"),
        ("checkpoint.cut_overhead", "free", "expected a finite number, found 'free'"),
        ("checkpoint.cut_overhead", -1, "expected a number from 0"),
        ("io.d2d.gbps", 0, "expected a number from 1e-09"),
        ("model.config_sha256", "abc", "expected 64 hexadecimal digits"),
        ("exactness.bf16_argmax_agreement", 1.5, "expected a number from 0 to 1"),
        ("prefill.fitted", [1.0], "expected an entry for each of prefill.n"),
        ("prefill.draws", [{"us": [1, 2], "e_us_per_pair": 0}], "expected 3 entries as in F"),
        ("prefill.draws", [{"us": [1, 2, 3]}], "missing"),
        ("validation", 3, "expected an object, found 3"),
        ("validation.held_out", [{"regime": "all"}], "missing"),
        ("validation.worst", 1.0, "unknown field"),
        (
            "kv_compression",
            {"share": [0.5, 0.2, 0.1]},
            "expected one number, or those of the first",
        ),
        ("kv_compression.share", [0], "expected a number from 1e-06 to 1"),
        ("kv_compression", {"budget_tokens": [64, 32]}, "tells of fewer than 2 attention layers"),
        ("kv_compression.budget_tokens", [0], "expected a number from 1"),
        ("state_compression", {"dtype": "int4"}, "field 'state_compression.dtype'"),
        ("state_compression", {"dtype": "int8"}, "expected state.dtypes.conv to be one of"),
        ("decode", "x" * 10_000, "expected an object, found 'xxx"),
    ],
)
def test_bad_values(field: str, value: object, message: str) -> None:
    fault = fault_of(lambda: parse_profile(changed(field, value), "toy.json"))
    assert str(fault).startswith(f"toy.json: field '{field.partition('.')[0]}")
    assert fault.field is not None
    assert fault.field.startswith(field) or "differ in length" in message
    assert message in str(fault)


def test_the_entry_of_a_list_is_named() -> None:
    fault = fault_of(lambda: parse_profile(changed("prefill.F.us", [1, -2, 3]), "toy.json"))
    assert fault.field == "prefill.F.us[1]"


@pytest.mark.parametrize(
    ("field", "hint"),
    [("sate", "state"), ("prefill.F.nn", "n"), ("io.host", "expected one of"), ("kv.\x1b\n", "")],
)
def test_unknown_fields(field: str, hint: str) -> None:
    fault = fault_of(lambda: parse_profile(changed(field, 1), "toy.json"))
    assert fault.field == field
    assert "unknown field" in str(fault)
    assert hint in str(fault)


def test_deep_nesting_is_refused() -> None:
    deep: object = 1
    for _ in range(30):
        deep = [deep]
    fault = fault_of(lambda: parse_profile(changed("decode", {"a": deep}), "toy.json"))
    assert "nested more than 20 levels" in str(fault)


@pytest.mark.parametrize("data", [None, 3, [], "text", True])
def test_not_an_object(data: object) -> None:
    assert "expected an object" in str(fault_of(lambda: parse_profile(data, "toy.json")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1, "a": 2}', "field 'a': told twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (pickle.dumps(WHOLE), "a pickle, which may run anything when opened: expected a profile"),
        (b"PK\x03\x04" + bytes(30), "a pickle"),
        (b"\x00\xff\xfe" * 20, "binary"),
        (b" " * (16 * 2**20 + 1), "larger than 16 MiB"),
    ],
)
def test_files_that_are_not_profiles(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    fault = fault_of(lambda: load_profile(path))
    assert str(fault).startswith(str(path))
    assert message in str(fault)


def test_the_line_of_broken_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"schema_version": 1,\n "kind": oops}\n')
    assert str(fault_of(lambda: load_profile(path))).startswith(f"{path}:2: not JSON")


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    assert "not a regular file" in str(fault_of(lambda: load_profile(tmp_path)))
    missing = tmp_path / "missing.json"
    assert "No such file" in str(fault_of(lambda: load_profile(missing)))
    assert "cannot be read" in str(fault_of(lambda: load_profile("a\0b")))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in str(fault_of(lambda: load_profile(pipe)))


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(WHOLE), encoding="utf-8-sig")
    assert load_profile(path).profile_id == "toy-gpu"


def test_standard_library_is_enough() -> None:
    costs = "simulator.costs"
    modules = f"{costs}.profile, {costs}.geometry, {costs}.cost_model, calibration.catalogue"
    script = (
        f"import sys, {modules}\n"
        "heavy = {'numpy', 'scipy', 'pydantic', 'msgspec', 'simpy', 'polars', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
