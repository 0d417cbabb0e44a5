"""Attention behind a context: the same without a mask as with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.calibration.tiny import tiny_model, torch

# isort: split
from transformers import AttentionInterface, AttentionMaskInterface

from calibration import exactness
from calibration.models import attention

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.fixture
def registered() -> Iterator[None]:
    """Let models take it on a CPU as well."""
    AttentionInterface.register(attention.NAME, attention.attend)
    AttentionMaskInterface.register(attention.NAME, attention.mask)
    yield
    del AttentionInterface._global_mapping[attention.NAME]
    del AttentionMaskInterface._global_mapping[attention.NAME]


def logits(model: Any, *pieces: int) -> Any:
    """Return all logits of the last of several prefills."""
    tokens = model.random_tokens(sum(pieces), seed=1)
    cache, start = model.new_cache(sum(pieces)), 0
    for n in pieces:
        output = model.forward(cache, tokens[:, start : start + n], every_logit=True)
        start += n
    return output


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("family", ["qwen3.5", "kimi-linear"])
def test_a_model_says_the_same(family: str) -> None:
    model = tiny_model(family)
    module = model.module
    pieces = [(60, 40), (60, 1)]
    masked = [logits(model, *cut) for cut in pieces]
    assert not attention.without_mask(module.config)
    module.set_attn_implementation(attention.NAME)
    assert attention.without_mask(module.config)
    for cut, expected in zip(pieces, masked, strict=True):
        assert (logits(model, *cut) - expected).abs().max() < 1e-6
    assert exactness.examine(model).passed


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("dtype", "taken"),
    [(torch.bfloat16, [(40, 100)]), (torch.float32, [(60, 60), (40, 100)])],
)
def test_no_mask_is_made_behind_a_context(
    dtype: Any, taken: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model("qwen3.5", dtype)
    module = model.module
    module.set_attn_implementation(attention.NAME)
    shapes: list[tuple[int, int]] = []
    right = attention.behind_context

    def noted(query: Any, key: Any, value: Any, scaling: float | None) -> Any:
        shapes.append((query.shape[2], key.shape[2]))
        return right(query, key, value, scaling)

    monkeypatch.setattr(attention, "behind_context", noted)
    monkeypatch.setattr(attention, "sdpa_mask", None)
    logits(model, 60, 40, 1)
    assert shapes == taken  # by the one attention layer; a single token needs no order


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_held_against_a_mask_before_it_is_used(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attention.works("cpu", dtype)
    right = attention.causal_lower_right
    monkeypatch.setattr(attention, "causal_lower_right", lambda q, k: right(q, k - 1))
    assert not attention.works("cpu", dtype)

    def missing(*_: object) -> Any:
        raise RuntimeError("no kernel for this")

    monkeypatch.setattr(attention, "causal_lower_right", missing)
    assert not attention.works("cpu", dtype)


@pytest.mark.parametrize(
    ("device", "works", "used"),
    [("cuda:0", True, True), ("cuda", False, False), ("cpu", True, False)],
)
def test_it_is_used_on_a_gpu_where_it_works(
    device: str, works: bool, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tiny_model("qwen3.5").module
    monkeypatch.setattr(attention, "works", lambda *_: works)
    attention.use_where_it_works(module, device)
    assert attention.without_mask(module.config) is used
