from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from calibration.catalogue import describe_profile, open_profile
from calibration.options import split_options
from simulator.base.errors import DataError, UsageError
from simulator.costs.profile import parse_profile, profile_to_json

STATE, KV = 51_511_296, 32_768  # of the 9B, which has 8 attention layers


@pytest.mark.parametrize(
    ("options", "checkpoint", "token"),
    [
        ("kv=1", STATE, KV),
        ("kv=0.5", STATE, KV // 2),
        ("kv=fp8", STATE, KV // 2),
        ("kv=0.3", STATE, 9_831),
        ("kv=0.75..0.25", STATE, KV // 2 + 3),  # whole bytes a layer, upwards
        ("kv_budget=2048", STATE + 2048 * KV, 0),
        ("kv_budget=2048,kv=int8", STATE + 1024 * KV, 0),
        ("kv_budget=3840..256", STATE + 2048 * KV, 0),
    ],
)
def test_bytes_that_are_left(options: str, checkpoint: int, token: int) -> None:
    profile = open_profile(f"qwen3.5-9b-h200:{options}")
    assert (profile.state_bytes, profile.kv_bytes_per_token) == (checkpoint, token)
    assert profile.kv_slot_bytes == checkpoint - STATE
    assert profile.state.bytes_per_checkpoint == STATE  # the state itself stays exact
    assert profile.prefill == open_profile("qwen3.5-9b-h200").prefill


@pytest.mark.parametrize(
    ("dtype", "left"),
    [
        ("int8", 50_331_648 // 4 + 1_179_648 // 2),
        ("fp8", 50_331_648 // 4 + 1_179_648 // 2),
        ("bfloat16", 50_331_648 // 2 + 1_179_648),  # the inputs of the convolution stay
    ],
)
def test_states_in_fewer_bits(dtype: str, left: int) -> None:
    profile, own = open_profile(f"qwen3.5-9b-h200:state={dtype}"), open_profile("qwen3.5-9b-h200")
    assert profile.state == own.state  # the model's own
    assert (own.state.ssm_bytes, own.state.conv_bytes) == (50_331_648, 1_179_648)
    assert profile.state_bytes == left
    assert profile.kv_bytes_per_token == KV
    assert profile.lossy == f"KV is exact; states are kept in {dtype}"
    assert own.lossy is None


def test_kv_and_states_are_compressed_together() -> None:
    both = open_profile("qwen3.5-9b-h200:state=int8,kv_budget=2048")
    states, kv = (open_profile(f"qwen3.5-9b-h200:{o}") for o in ("state=int8", "kv_budget=2048"))
    assert both.state_bytes == states.state_bytes + kv.kv_slot_bytes
    assert both.lossy == (
        "KV keeps 2,048 tokens a layer, held with each checkpoint; states are kept in int8"
    )


def test_the_name_tells_it_and_opens_it_again() -> None:
    for name in (
        "qwen3.5-9b-h200:kv=fp8,state=bfloat16",
        "analytic:model=qwen3.5-27b,gpu=h200,state=int8",
        "qwen3.5-9b-h200:kv=0.5",
        "qwen3.5-9b-h200:kv=fp8,kv_budget=4096..512",
        "analytic:model=qwen3.5-27b,gpu=h200,kv_budget=1024",
    ):
        profile = open_profile(name)
        assert profile.profile_id == name
        assert open_profile(profile.profile_id) == profile
        assert parse_profile(json.loads(profile_to_json(profile)), "t") == profile
    row = describe_profile(name, profile)
    assert row.kv_compression == "1,024 tokens a layer, held with each checkpoint"
    assert describe_profile("x", open_profile("qwen3.5-9b-h200")).kv_compression is None


def test_a_file_can_be_compressed_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(profile_to_json(open_profile("qwen3.5-2b-h200")), encoding="utf-8")
    profile = open_profile(f"{path}:kv=0.5")
    assert profile == open_profile("qwen3.5-2b-h200:kv=0.5")
    path.write_text(profile_to_json(profile), encoding="utf-8")
    assert open_profile(str(path)) == profile
    with pytest.raises(UsageError, match="its KV is compressed already"):
        open_profile(f"{path}:kv=0.5")


def test_split_options() -> None:
    assert split_options("a:kv=1") == ("a", "kv=1")
    assert split_options("a") == ("a", "")
    assert split_options("C:\\x=1\\a.json") == ("C:\\x=1\\a.json", "")
    assert split_options("d:k=1/a.json:kv=1,kv_budget=2") == ("d:k=1/a.json", "kv=1,kv_budget=2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("kv=0", "kv: expected a share of the bytes above 0 and up to 1, fp8 or int8"),
        ("kv=1.5", "found '1.5'"),
        ("kv=nan", "found 'nan'"),
        ("kv=int4", "found 'int4'"),
        ("kv=0.5..", "found '0.5..'"),
        ("kv=0.5..0.4..0.3", "kv: expected one number, or those of the first"),
        ("kv=", "expected key=value"),
        ("kv_budget=0", "kv_budget: expected a whole number of tokens"),
        ("kv_budget=0.5", "found '0.5'"),
        ("kv_budget=9999999999999", "found '9999999999999'"),
        ("kv_budget=1..2..3", "expected one number, or those of the first and the last"),
        ("kb=2", "unknown key 'kb'"),
        ("state=int4", "state: expected one of int8, fp8, bfloat16, found 'int4'"),
        ("state=0.5", "found '0.5'"),
        ("state=", "expected key=value"),
        ("sate=int8", "unknown key 'sate'; did you mean 'state'?"),
        ("kv=1,kv=1", "'kv' is told twice"),
    ],
)
def test_refused_in_one_line(options: str, message: str) -> None:
    for name in (f"qwen3.5-9b-h200:{options}", f"analytic:model=qwen3.5-9b,{options}"):
        with pytest.raises(UsageError) as caught:
            open_profile(name)
        assert "\n" not in str(caught.value)
        assert message in str(caught.value)


def test_eight_bits_of_unknown_bits_are_refused(tmp_path: Path) -> None:
    data = json.loads(profile_to_json(open_profile("qwen3.5-2b-h200")))
    data["kv"]["dtype"] = "fp6"
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape("expected kv.dtype to be one of bfloat16")):
        open_profile(f"{path}:kv=fp8")


def test_states_that_are_as_small_already_are_refused(tmp_path: Path) -> None:
    data = json.loads(profile_to_json(open_profile("qwen3.5-2b-h200")))
    path = tmp_path / "mine.json"

    def refused(kinds: dict[str, str] | None, option: str, message: str) -> None:
        data["state"]["dtypes"] = kinds
        path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
        with pytest.raises(UsageError, match=re.escape(message)):
            open_profile(f"{path}:{option}")

    refused({"ssm": "bfloat16", "conv": "float16"}, "state=bfloat16", "in bfloat16 and float16 alr")
    refused({"ssm": "int8", "conv": "int8"}, "state=fp8", "states are in int8 already")
    refused({"ssm": "float64", "conv": "int8"}, "state=fp8", "expected state.dtypes.ssm to be one")
    refused({"conv": "int8"}, "state=fp8", "found None")


def test_a_file_with_compressed_states(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    profile = open_profile("qwen3.5-2b-h200:state=int8")
    path.write_text(profile_to_json(profile), encoding="utf-8")
    assert open_profile(str(path)) == profile
    with pytest.raises(UsageError, match="its states are compressed already"):
        open_profile(f"{path}:state=fp8")
    data = json.loads(profile_to_json(profile))
    del data["state"]["dtypes"]
    with pytest.raises(DataError, match="field 'state_compression': expected state"):
        parse_profile(data, "t")


@pytest.mark.parametrize("name", ["profile.pt", "some/where.pkl"])
def test_pickles_are_refused_unopened(name: str) -> None:
    with pytest.raises(DataError, match="a pickle, which may run anything"):
        open_profile(name)
