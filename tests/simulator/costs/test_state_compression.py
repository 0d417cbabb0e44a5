"""What is left of a state in fewer bits."""

from __future__ import annotations

import pytest

from simulator.costs.state_compression import StateCompression, fault, spared_bytes

INT8 = StateCompression("int8")


def test_each_part_by_its_own_format() -> None:
    # 100 numbers of 4 bytes and 10 of 2: 100 and 10 bytes are left
    parts = {"ssm": 400, "conv": 20}
    assert spared_bytes(INT8, parts, {"ssm": "float32", "conv": "bfloat16"}) == 310
    assert spared_bytes(INT8, parts, {"ssm": "float32", "conv": "int8"}) == 300
    half = StateCompression("bfloat16")
    assert spared_bytes(half, parts, {"ssm": "float32", "conv": "bfloat16"}) == 200


def test_what_is_left_is_never_less_than_the_bits_need() -> None:
    for own in range(1, 40):
        left = own - spared_bytes(INT8, {"ssm": own, "conv": 0}, {"ssm": "float32", "conv": "int8"})
        assert left >= own / 4
        assert left < own / 4 + 1


@pytest.mark.parametrize("dtypes", [None, {}, {"ssm": "float32"}, {"ssm": "x", "conv": "int8"}])
def test_unknown_formats_are_refused(dtypes: dict[str, str] | None) -> None:
    assert fault(INT8, dtypes) is not None
    with pytest.raises(ValueError, match=r"expected state\.dtypes"):
        spared_bytes(INT8, {"ssm": 4, "conv": 4}, dtypes)
