from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.costs.kv_compression import KvCompression, fault, slot_bytes, token_bytes


def test_shares_worked_by_hand() -> None:
    assert token_bytes(KvCompression(), 32_768, 8) == 32_768
    assert token_bytes(KvCompression((0.5,)), 32_768, 8) == 16_384
    # A tenth of 70 is 7, though 0.1 * 70 and 0.7 * 10 are a bit more in binary.
    assert token_bytes(KvCompression((0.1,)), 70, None) == 7
    assert token_bytes(KvCompression((0.7,)), 10, None) == 7
    assert token_bytes(KvCompression((0.3,)), 32_768, 8) == 9_831  # whole bytes, upwards
    # Three layers of 100 bytes keep 80, 50 and 20 % of them.
    assert token_bytes(KvCompression((0.8, 0.2)), 300, 3) == 80 + 50 + 20


def test_budgets_worked_by_hand() -> None:
    assert slot_bytes(KvCompression((0.5,)), 32_768, 8) == 0
    assert slot_bytes(KvCompression(budget_tokens=(2048,)), 32_768, 8) == 2048 * 32_768
    assert slot_bytes(KvCompression((0.5,), (2048,)), 32_768, 8) == 2048 * 16_384
    # 100, 75 (74.5 upwards) and 49 tokens of 100 bytes in three layers.
    assert slot_bytes(KvCompression(budget_tokens=(100, 49)), 300, 3) == (100 + 75 + 49) * 100


@given(st.integers(2, 64), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 4096))
def test_a_pyramid_keeps_what_its_mean_keeps(layers: int, first: int, last: int, size: int) -> None:
    pyramid = slot_bytes(KvCompression(budget_tokens=(first, last)), size * layers, layers)
    mean = (first + last) / 2 * layers * size
    assert abs(pyramid - mean) <= layers * size / 2  # half a token a layer is rounded
    back = slot_bytes(KvCompression(budget_tokens=(last, first)), size * layers, layers)
    assert abs(pyramid - back) <= layers * size


@given(st.floats(1e-6, 1), st.integers(1, 2**20))
def test_shares_are_never_rounded_down(share: float, size: int) -> None:
    kept = token_bytes(KvCompression((share,)), size, None)
    assert share * size * (1 - 1e-12) <= kept <= math.ceil(share * size)
    assert 1 <= kept <= size


@pytest.mark.parametrize(
    ("compression", "kv_bytes", "layers", "message"),
    [
        (KvCompression(()), 32, 4, "expected one number"),
        (KvCompression((0.5, 0.4, 0.3)), 32, 4, "expected one number"),
        (KvCompression(budget_tokens=(3, 2, 1)), 32, 4, "expected one number"),
        (KvCompression((0.5,)), 0, 4, "the model has no KV"),
        (KvCompression((0.5, 0.1)), 32, None, "fewer than 2 attention layers"),
        (KvCompression((0.5, 0.1)), 32, 1, "fewer than 2 attention layers"),
        (KvCompression((0.5, 0.1)), 32, 5, "32 bytes are not the same in 5 layers"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    compression: KvCompression, kv_bytes: int, layers: int | None, message: str
) -> None:
    assert message in (fault(compression, kv_bytes, layers) or "")
    with pytest.raises(ValueError, match=message):
        token_bytes(compression, kv_bytes, layers)


def test_described() -> None:
    assert KvCompression().described() == "all of it"
    assert KvCompression((0.5,)).described() == "50 % of its bytes"
    both = KvCompression((0.5,), (4096, 512))
    assert both.described() == (
        "50 % of its bytes and 4,096 (first attention layer) to 512 (last) tokens a layer, "
        "held with each checkpoint"
    )
    assert replace(both, budget_tokens=None) == KvCompression((0.5,))
