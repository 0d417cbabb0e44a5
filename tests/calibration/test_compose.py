from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration.catalogue import open_profile
from calibration.compose import compose, fixed_part_us, main, read_reference
from calibration.gpus import GPUS
from simulator.base.errors import DataError, UsageError
from simulator.costs.cost_model import CostModel

SIZES = ["0.8B", "2B", "9B"]
PROFILES = Path(__file__).parents[2] / "calibration" / "profiles"


def reference_path(shared: Path, size: str) -> Path:
    return shared / "reference" / "h200_composed" / f"h200_composed_Qwen3.5-{size}.json"


def profile_name(size: str) -> str:
    return f"qwen3.5-{size.lower()}-h200"


def small_reference(**changes: Any) -> dict[str, Any]:
    data = {
        "model": "Qwen/Qwen3.5-2B",
        "source": "a test",
        "batch": 1,
        "n": [1, 100],
        "linear_ms": [1.0, 4.0],
        "attn_ms_c0": [0.5, 1.0],
        "e_us_per_pair": 0.01,
    }
    return {**data, **changes}


def written(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "reference.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", SIZES)
def test_shipped_profiles_are_rebuilt_to_the_byte(shared: Path, tmp_path: Path, size: str) -> None:
    out = tmp_path / "out.json"
    assert main([str(reference_path(shared, size)), "-o", str(out)]) == 0
    assert out.read_bytes() == (PROFILES / f"{profile_name(size)}.json").read_bytes()
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("size", SIZES)
def test_profiles_give_back_the_tables(shared: Path, size: str) -> None:
    data = json.loads(reference_path(shared, size).read_text(encoding="utf-8"))
    cost = CostModel(open_profile(profile_name(size)))
    highest = 0.0
    for n, linear, attention in zip(data["n"], data["linear_ms"], data["attn_ms_c0"], strict=True):
        table_ms = linear + attention
        pairs_ms = data["e_us_per_pair"] * n * n / 2e3
        highest = max(highest, table_ms - pairs_ms)
        assert 1e3 * cost.prefill_seconds(0, n) == pytest.approx(highest + pairs_ms, abs=1e-5)
        # The running maximum lifts the noise at small n, and that by less than 5 %.
        assert table_ms * (1 - 1e-6) <= 1e3 * cost.prefill_seconds(0, n) <= 1.05 * table_ms


@pytest.mark.parametrize("size", SIZES)
def test_fixed_part_is_positive(shared: Path, size: str) -> None:
    assert min(fixed_part_us(read_reference(reference_path(shared, size)))) > 1000


def test_held_numbers_of_the_9b(shared: Path) -> None:
    reference = read_reference(reference_path(shared, "9B"))
    linear = dict(zip(reference.n, reference.linear_ms, strict=True))
    held = {64: 5.02, 512: 11.1, 2048: 41.2, 8192: 173.9}
    for n, milliseconds in held.items():
        assert linear[n] == pytest.approx(milliseconds, abs=0.051)
        # Attention without context adds 0.1 to 6.4 ms.
        whole = 1e3 * CostModel(open_profile("qwen3.5-9b-h200")).prefill_seconds(0, n)
        assert milliseconds < whole < milliseconds * 1.05


def test_cutting_a_long_prefill_of_the_9b() -> None:
    # Known of the linear part: every 512 tokens +2 %, 256 +27 %, 128 +97 %, 64 x3.7.
    profile = open_profile("qwen3.5-9b-h200")
    cost, copy_seconds = CostModel(profile), profile.state_bytes / 2150e9
    whole = cost.prefill_seconds(0, 8192)
    for every, share in {512: 0.02, 256: 0.27, 128: 0.97, 64: 2.7}.items():
        positions = list(range(every, 8193, every))
        captured = cost.capture_seconds(0, 8192, positions) - len(positions) * copy_seconds
        assert captured / whole == pytest.approx(share, abs=0.04)


def test_copies_of_one_checkpoint_of_the_9b() -> None:
    profile = open_profile("qwen3.5-9b-h200")
    cost = CostModel(profile)
    assert cost.restore_seconds(profile.state_bytes) == pytest.approx(24e-6, rel=0.01)
    assert cost.restore_seconds(profile.state_bytes, "host") == pytest.approx(1.0e-3, rel=0.05)
    assert cost.restore_seconds(profile.state_bytes, "disk") == pytest.approx(8.6e-3, rel=0.01)
    assert cost.capture_seconds(0, 64, [64]) == pytest.approx(24e-6, rel=0.01)


def test_worked_by_hand(tmp_path: Path) -> None:
    reference = read_reference(written(tmp_path, small_reference()))
    assert fixed_part_us(reference) == [1499.995, 4950.0]
    profile = compose(reference, GPUS["h100"])
    assert profile.profile_id == "qwen3.5-2b-h100"
    assert profile.kind == "composed"
    assert profile.hardware.name == "NVIDIA H100 SXM"
    assert (profile.valid_n_max, profile.valid_c_max, profile.alignment) == (100, 100, 64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 2}, "field 'batch': expected 1, found 2"),
        ({"linear_ms": [1.0]}, "field 'linear_ms': expected 2 entries"),
        ({"attn_ms_c0": [0.5, None]}, r"field 'attn_ms_c0\[1\]': expected a finite number"),
        ({"n": [100, 1]}, r"field 'prefill.F.n\[1\]': expected ascending"),
        ({"e_us_per_pair": 10.0}, r"field 'prefill.F.us\[1\]': expected a number from 1e-06"),
        ({"extra": 1}, "field 'extra': unknown field"),
    ],
)
def test_bad_tables(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = written(tmp_path, small_reference(**changes))
    with pytest.raises(DataError, match=message):
        compose(read_reference(path), GPUS["h200"])


def test_unknown_model(tmp_path: Path) -> None:
    reference = read_reference(written(tmp_path, small_reference(model="Qwen/Qwen3.5-3B")))
    with pytest.raises(UsageError, match=r"unknown model 'qwen3\.5-3b'"):
        compose(reference, GPUS["h200"])


def test_command_line_reports_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.json")
    assert main([missing, "-o", str(tmp_path / "out.json")]) == 3
    assert (
        capsys.readouterr().err == f"error: {missing}: cannot be read: No such file or directory\n"
    )
    reference = written(tmp_path, small_reference())
    assert main([str(reference), "-o", str(tmp_path / "no" / "out.json")]) == 2
    assert "cannot be written: No such file or directory" in capsys.readouterr().err
    (tmp_path / "folder").mkdir()
    assert main([str(reference), "-o", str(tmp_path / "folder")]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "reference.json"]
