from __future__ import annotations

import pytest

from tests.calibration.tiny import tiny_model, torch  # first: it skips where torch is absent

# isort: split
from calibration import exactness
from calibration.models.hybrid import cache_name

EXACT = ["qwen3.5", "qwen3.5-moe", "qwen3-next", "nemotron-h", "falcon-h1", "kimi-linear", "bamba"]


@pytest.mark.parametrize("family", EXACT)
def test_a_resumed_model_is_the_same_and_mistakes_are_seen(family: str) -> None:
    finding = exactness.examine(tiny_model(family))
    assert finding.error <= 1e-5
    assert finding.kv_left >= 100 * finding.error
    assert finding.no_replay >= 100 * finding.error
    assert finding.passed


@pytest.mark.parametrize(("positions", "exact"), [(True, True), (False, False)])
def test_bamba_is_exact_only_where_positions_are_given(positions: bool, exact: bool) -> None:
    model = tiny_model("bamba")
    tokens = model.random_tokens(120, seed=1)
    whole = model.forward(model.new_cache(120), tokens, every_logit=True)[:, 77:]
    cache = model.new_cache(120)
    model.forward(cache, tokens[:, :77])
    given = {"position_ids": torch.arange(77, 120)[None]} if positions else {}
    given |= {cache_name(model.module): cache.cache, "use_cache": True}
    with torch.no_grad():
        resumed = model.module(tokens[:, 77:], **given).logits
    assert (float((resumed - whole).abs().max()) <= exactness.TOLERANCE) is exact


def test_jamba_forgets_its_state_when_several_tokens_follow() -> None:
    model = tiny_model("jamba")
    finding = exactness.examine(model)
    assert finding.error > 1e-3
    assert not finding.exact
    assert not finding.passed


def test_rounded_models_are_reported_not_judged() -> None:
    agreement = exactness.argmax_agreement(tiny_model("qwen3.5", torch.bfloat16))
    assert 0.5 <= agreement <= 1


def test_a_model_that_forgets_at_once_proves_nothing() -> None:
    finding = exactness.ExactnessFinding(continued=1e-7, restored=1e-7, kv_left=1e-6, no_replay=0.1)
    assert finding.exact
    assert not finding.conclusive
    assert not finding.passed
