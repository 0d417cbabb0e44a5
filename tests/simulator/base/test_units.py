from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.base.errors import UsageError
from simulator.base.units import (
    exact_bytes,
    format_bytes,
    format_count,
    format_seconds,
    parse_bytes,
    parse_capacity,
    parse_seconds,
    refuse_bare,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8 GiB", 8 * 2**30),
        ("512MB", 512 * 10**6),
        ("1.5 kB", 1500),
        (" 2 tib ", 2 * 2**40),
        ("1e3", 1000),
        ("0", 0),
        (4096, 4096),
        (1e6, 10**6),
        ("1 EiB", 2**60),
        ("1024 PiB", 2**60),
        ("1152921504606846976", 2**60),
        ("1152921504606846975", 2**60 - 1),
    ],
)
def test_sizes(text: str | float, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    [
        *("", "GiB", "-1", "-1 GiB", "nan", "inf", "8 GiBB", "8 GiB 3", "1e400", "9" * 5000),
        *(
            "1025 PiB",
            "1.01 EiB",
            "2000000 TiB",
            "\uff11 GiB",
            True,
            None,
            float("nan"),
            float("inf"),
            -1,
            -0.5,
        ),
        *([], "8\nGiB\x1b", "1,5 GB", "0x10"),
    ],
)
def test_sizes_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_bytes(text, "capacity")
    assert str(caught.value).startswith("capacity")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_number_too_long_to_print_is_refused() -> None:
    with pytest.raises(UsageError, match="an absurd number"):
        parse_bytes(10**5000)


def test_units_are_told_in_their_usual_spelling() -> None:
    with pytest.raises(UsageError, match=r"unknown unit 'GiBB' .* expected B, kB, MB, .* KiB, "):
        parse_bytes("8 GiBB")
    with pytest.raises(UsageError, match=r"beyond the largest, 1 EiB \(1024 PiB\)"):
        parse_bytes("2 EiB")


def test_capacity() -> None:
    assert parse_capacity("unbounded") is None
    assert parse_capacity("1 KiB") == 1024
    with pytest.raises(UsageError, match=r"^capacity: .* found 'unbound'; 'unbounded' "):
        parse_capacity("unbound")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("800 ms", 0.8), ("2", 2.0), ("3 us", 3e-6), ("5ns", 5e-9), ("2 min", 120.0), (1.5, 1.5)],
)
def test_times(text: str | float, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize("text", ["-1 s", "3 days", "nan", "1e11", "ms", float("inf"), False])
def test_times_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^target"):
        parse_seconds(text, "target")


@given(st.integers(0, 2**60))
def test_every_whole_number_of_bytes_survives(size: int) -> None:
    assert parse_bytes(str(size)) == parse_bytes(size) == size


@given(st.integers(0, 2**60), st.integers(0, 60))
def test_exact_sizes_parse_back_to_the_byte(size: int, zeros: int) -> None:
    size = size >> zeros << zeros
    assert parse_bytes(exact_bytes(size)) == size


def test_exact_sizes_have_the_largest_unit() -> None:
    sizes = (0, 1023, 1024, 3 << 29, 8 << 30, 10**9, 2**60)
    shown = ("0B", "1023B", "1KiB", "1536MiB", "8GiB", "1000000000B", "1EiB")
    assert tuple(map(exact_bytes, sizes)) == shown


@given(st.integers(0, 2**50))
def test_formatted_sizes_parse_back_nearly(size: int) -> None:
    assert parse_bytes(format_bytes(size).replace(",", "")) == pytest.approx(size, rel=0.05, abs=1)


def test_formats() -> None:
    assert format_bytes(0) == "0 B"
    assert format_bytes(1023) == "1,023 B"
    assert format_bytes(51_511_296) == "49.1 MiB"
    assert format_bytes(2**30 - 1) == "1.0 GiB"
    assert format_seconds(0.8116) == "812 ms"
    assert format_seconds(0.99999) == "1.00 s"
    assert format_seconds(12.34) == "12.3 s"
    assert format_seconds(24e-6) == "24.0 us"
    assert format_seconds(5e-9) == "5.00 ns"
    assert format_seconds(0) == "0 s"
    assert format_seconds(float("nan")) == format_bytes(float("inf")) == "n/a"
    assert format_count(12031) == "12,031"


def test_a_small_capacity_without_a_unit_is_no_capacity() -> None:
    with pytest.raises(UsageError, match="--capacity: 8 bytes hold no KV; did you mean '8 GiB'"):
        refuse_bare(8, "8", "--capacity")
    for capacity, stated in ((0, "0"), (8, "8 B"), (1 << 16, "65536"), (None, "unbounded")):
        refuse_bare(capacity, stated, "--capacity")
