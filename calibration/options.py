"""Options after a cost profile's name that compress its KV and states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from simulator.base.decode import decode
from simulator.base.errors import DataError, UsageError, did_you_mean, printable
from simulator.costs.kv_compression import KvCompression, fault
from simulator.costs.profile import Profile
from simulator.costs.state_compression import FORMATS, StateCompression
from simulator.costs.state_compression import fault as state_fault

KV_KEYS = ("kv", "kv_budget")
STATE_KEY = "state"
LOSSY_KEYS = (*KV_KEYS, STATE_KEY)
EIGHT_BITS = {"fp8": 8, "int8": 8}
_DTYPE_BITS = {"bfloat16": 16, "float16": 16, "float32": 32}
_OPTIONS = re.compile(r"(?P<name>.+?):(?P<options>\s*\w+\s*=[^/\\]*)", re.DOTALL)


def split_options(name: str) -> tuple[str, str]:
    """Split a profile's name or path from the `key=value,...` after its colon."""
    match = _OPTIONS.fullmatch(name)
    return (match["name"], match["options"]) if match else (name, "")


def read_options(text: str, known: Iterable[str], what: str) -> dict[str, str]:
    """Parse `key=value,...` into a dict.

    Parameters
    ----------
    text
        The options.
    known
        Accepted keys.
    what
        Name of the profile, for error messages.

    Raises
    ------
    UsageError
        If the syntax is wrong, or a key is unknown or given twice.
    """
    known = list(known)
    values: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise UsageError(f"profile '{what}': expected key=value, found '{printable(part)}'")
        if key not in known:
            hint = did_you_mean(key, known)
            raise UsageError(f"profile '{what}': unknown key '{printable(key)}'{hint}")
        if key in values:
            raise UsageError(f"profile '{what}': '{key}' is told twice")
        values[key] = value
    return values


def compressed(profile: Profile, values: Mapping[str, str]) -> Profile:
    """Return the profile with KV and states compressed as given by the options in `LOSSY_KEYS`.

    Raises
    ------
    UsageError
        If a value is invalid, or the remaining bytes cannot be computed.
    """
    return with_compressed_states(with_compressed_kv(profile, values), values)


def with_compressed_kv(profile: Profile, values: Mapping[str, str]) -> Profile:
    """Return the profile with its KV compressed as given by the options in `KV_KEYS`.

    Parameters
    ----------
    profile
        A profile with uncompressed KV.
    values
        `kv`: the fraction of bytes that is kept, above 0 and at most 1, or "fp8" or "int8".
        `kv_budget`: tokens per prefix that each attention layer keeps. Either may be FIRST..LAST,
        interpolated linearly from the first attention layer to the last.

    Raises
    ------
    UsageError
        If a value is invalid, or the remaining bytes cannot be computed.
    """
    given = {key: values[key].replace(" ", "") for key in KV_KEYS if key in values}
    if not given:
        return profile
    what = printable(profile.profile_id)
    if profile.kv_compression is not None:
        raise UsageError(f"profile '{what}': its KV is compressed already")
    compression = KvCompression(
        _share(given["kv"], profile) if "kv" in given else (1.0,),
        _budget(given["kv_budget"], what) if "kv_budget" in given else None,
    )
    problem = fault(compression, profile.kv.bytes_per_token, profile.attention_layers)
    if problem:
        raise UsageError(f"profile '{what}': {', '.join(given)}: {problem}")
    return replace(profile, profile_id=_named(profile, given), kv_compression=compression)


def with_compressed_states(profile: Profile, values: Mapping[str, str]) -> Profile:
    """Return the profile with states stored in the number format given by the option `state`.

    Parameters
    ----------
    profile
        A profile with known number formats of its states.
    values
        `state`: "int8", "fp8" or "bfloat16".

    Raises
    ------
    UsageError
        If the format is unknown or does not make states smaller.
    """
    if STATE_KEY not in values:
        return profile
    dtype, what = values[STATE_KEY], printable(profile.profile_id)
    if profile.state_compression is not None:
        raise UsageError(f"profile '{what}': its states are compressed already")
    try:
        compression = decode(StateCompression, {"dtype": dtype}, what)
    except DataError:
        raise UsageError(
            f"profile '{what}': state: expected one of {', '.join(FORMATS)}, "
            f"found '{printable(dtype)}'"
        ) from None
    problem = state_fault(compression, profile.state.dtypes)
    if problem:
        raise UsageError(f"profile '{what}': state={dtype}: {problem}")
    return replace(
        profile, profile_id=_named(profile, {STATE_KEY: dtype}), state_compression=compression
    )


def _named(profile: Profile, options: Mapping[str, str]) -> str:
    """Return the profile's name with compression options appended."""
    separator = "," if ":" in profile.profile_id else ":"
    listed = ",".join(f"{key}={value}" for key, value in options.items())
    return f"{profile.profile_id}{separator}{listed}"


def _share(text: str, profile: Profile) -> tuple[float, ...]:
    """Parse the option `kv`, such as "fp8", "0.5" or "0.8..0.2", into kept fractions."""
    if text in EIGHT_BITS:
        bits = _DTYPE_BITS.get(profile.kv.dtype or "")
        if bits is None:
            what, dtype = printable(profile.profile_id), printable(repr(profile.kv.dtype))
            raise UsageError(
                f"profile '{what}': kv={text}: expected kv.dtype to be one of "
                f"{', '.join(_DTYPE_BITS)}, found {dtype}"
            )
        return (EIGHT_BITS[text] / bits,)
    shares = [_number(part) for part in text.split("..")]
    return _checked({"share": shares}, "kv", text, profile.profile_id).share


def _budget(text: str, what: str) -> tuple[int, ...]:
    """Parse the option `kv_budget`, such as "2048" or "4096..512", into tokens."""
    tokens = [int(part) if _is_whole(part) else part for part in text.split("..")]
    return _checked({"budget_tokens": tokens}, "kv_budget", text, what).budget_tokens or ()


def _checked(data: object, key: str, text: str, what: str) -> KvCompression:
    """Build the KV compression of an option; raise UsageError if the value is invalid."""
    try:
        return decode(KvCompression, data, what)
    except DataError:
        expected = (
            f"a share of the bytes above 0 and up to 1, {' or '.join(EIGHT_BITS)}"
            if key == "kv"
            else "a whole number of tokens"
        )
        raise UsageError(
            f"profile '{printable(what)}': {key}: expected {expected}, or FIRST..LAST for the "
            f"attention layers, found '{printable(text)}'"
        ) from None


def _number(text: str) -> float | str:
    """Return a plain decimal as a float, anything else unchanged."""
    return float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,12})?|\.\d{1,12}", text, re.ASCII) else text


def _is_whole(text: str) -> bool:
    """Tell whether the text is an integer of at most 12 digits."""
    return text.isascii() and text.isdigit() and len(text) <= 12
