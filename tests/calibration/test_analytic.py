from __future__ import annotations

import json
import re

import pytest

from calibration.analytic import analytic_profile
from calibration.catalogue import open_profile
from calibration.gpus import GPUS
from simulator.base.errors import UsageError
from simulator.costs.cost_model import CostModel
from simulator.costs.geometry import MODELS
from simulator.costs.profile import parse_profile, profile_to_json

TOKENS = [1, 16, 64, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384]
PRICED = [name for name, geometry in MODELS.items() if geometry.feed_forward is not None]


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("model", PRICED)
def test_every_model_on_every_gpu(model: str, gpu: str) -> None:
    profile = analytic_profile(model, gpu)
    assert profile.kind == "analytic"
    assert profile.state_bytes == MODELS[model].state_bytes
    assert profile.kv_bytes_per_token == MODELS[model].kv_bytes_per_token
    assert profile.alignment == 64
    assert GPUS[gpu].data_sheet in profile.source
    assert profile.hardware.memory is not None
    assert 2 * MODELS[model].parameters <= 0.9 * profile.hardware.memory


@pytest.mark.parametrize(
    ("model", "low", "high"),
    [("qwen3.5-9b", 0.75, 1.11), ("qwen3.5-2b", 0.74, 0.90), ("qwen3.5-0.8b", 0.60, 0.84)],
)
def test_beside_the_composed_profiles(model: str, low: float, high: float) -> None:
    estimate = CostModel(analytic_profile(model))
    composed = CostModel(open_profile(f"{model}-h200"))
    for n in TOKENS:
        ratio = estimate.prefill_seconds(0, n) / composed.prefill_seconds(0, n)
        assert low <= ratio <= high


def test_pair_price_beside_the_composed_profile() -> None:
    estimate = analytic_profile("qwen3.5-9b").prefill.e_us_per_pair
    composed = open_profile("qwen3.5-9b-h200").prefill.e_us_per_pair
    assert estimate == pytest.approx(composed, rel=0.02)


def test_worked_by_hand() -> None:
    # The 9B on one H200: 6,918,504,448 weights of 2 bytes and twice 51,511,296 bytes of state at
    # 78 % of 4.8 TB/s; 13.962838016 GFLOP a token at 66 % of 989.5 TFLOP/s; 32 layers of 35 us.
    table = analytic_profile("qwen3.5-9b").prefill.F
    priced = dict(zip(table.n, table.us, strict=True))
    memory_us = (2 * 6_918_504_448 + 2 * 51_511_296) / (0.78 * 4.8e6)
    compute_us = 13.962838016e9 * 8192 / (0.66 * 989.5e6)
    assert priced[1] == pytest.approx(memory_us + 32 * 35, abs=1e-3)
    assert priced[8192] == pytest.approx(compute_us + 32 * 35, abs=1e-3)


def test_experts_are_read_as_they_are_touched() -> None:
    # One token reads 8 of 256 experts; a prefill of 512 nearly all of them.
    table = analytic_profile("qwen3.5-35b-a3b").prefill.F
    priced = dict(zip(table.n, table.us, strict=True))
    geometry = MODELS["qwen3.5-35b-a3b"]
    for n, parameters in ((1, geometry.active_parameters), (512, geometry.parameters)):
        memory_us = (2 * parameters + 2 * geometry.state_bytes) / (0.78 * 4.8e6)
        assert priced[n] == pytest.approx(memory_us + 40 * 35, rel=1e-5)


def test_gpus_share_a_model() -> None:
    one, two = (analytic_profile("qwen3.5-9b", "h200", count) for count in (1, 2))
    assert two.hardware.name == "2 x NVIDIA H200 SXM"
    assert two.prefill.F.us[-1] - 1120 == pytest.approx((one.prefill.F.us[-1] - 1120) / 2)
    assert "2 GPUs share every layer" in two.source


def test_gpus_are_added_until_the_weights_fit() -> None:
    assert analytic_profile("qwen3.5-9b").hardware.name == "NVIDIA H200 SXM"
    assert analytic_profile("qwen3.5-397b-a17b").hardware.name == "8 x NVIDIA H200 SXM"


def test_profiles_read_back() -> None:
    text = profile_to_json(analytic_profile("qwen3.5-27b", "mi300x"))
    profile = parse_profile(json.loads(text), "t")
    assert profile == analytic_profile("qwen3.5-27b", "mi300x")
    assert profile_to_json(profile) == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("qwen3.5-9", "h200"), "unknown model 'qwen3.5-9'; did you mean"),
        (("qwen3.5-9b", "h20"), "unknown GPU 'h20'; did you mean 'h200'"),
        (("jamba-v0.1", "h200"), "its FLOPs are not"),
        (("qwen3.5-9b", "h200", 0), "count: expected 1 to 64 GPUs, found 0"),
        (
            ("qwen3.5-397b-a17b", "h200", 2),
            "does not fit 2 x NVIDIA H200 SXM",
        ),
    ],
)
def test_refused(arguments: tuple[str, str] | tuple[str, str, int], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        analytic_profile(*arguments)
