"""Caveats of cost profiles: how their times were obtained, and where they do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.base.units import format_count

PROFILE_KINDS = {
    "measured": "was measured: timings of the model itself on the named hardware",
    "composed": "was composed from timings of single operators; the whole model was not timed",
    "analytic": "is a roofline estimate from data-sheet figures; nothing was measured",
    "toy": "is of a toy, to try things out: its times say nothing of a real model",
}


def profile_caveats(profile: Mapping[str, Any]) -> Iterator[str]:
    """Yield the caveats of a profile.

    Parameters
    ----------
    profile
        As a manifest has it: `id`, `kind`, `scale`, `lossy`, `band`, `draws`, `warnings`; any of
        them may be missing.
    """
    yield from times_from(profile)
    if profile.get("scale", "whole") != "whole":
        yield f"The profile was timed as {profile['scale']}, not on the whole model."
    yield from lossy(profile.get("lossy") or {})
    band = profile.get("band")
    if band and not profile.get("draws"):
        yield (
            f"The times of the profile are known to about {100 * band:.2g} % (95 %, from the "
            "residuals of its fit), which no interval here includes: model.draws = true does that."
        )
    for warning in profile.get("warnings") or ():
        yield f"The profile warns: {str(warning).rstrip('.')}."


def times_from(profile: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the times of a profile were obtained; nothing for a measured profile."""
    kind, name = profile.get("kind"), profile.get("id")
    if kind == "sizes":
        yield f"The profile {name} has sizes only: there are no times."
    elif kind != "measured" and kind in PROFILE_KINDS:
        yield f"Times rest on the profile {name}, which {PROFILE_KINDS[str(kind)]}."


def lossy(kept: Mapping[str, str]) -> Iterator[str]:
    """Yield what each lossy profile keeps; `kept` is its name -> "keeps 4 bits of KV"."""
    for name, words in kept.items():
        yield (
            f"Lossy, with the profile {name}: {words}. Answers differ from those of the model "
            "itself; bytes are counted, but no prefill gets faster, and packing takes no time."
        )


def extrapolated(
    requests: float, profile: Mapping[str, Any], served: float | None = None
) -> Iterator[str]:
    """Yield how many request times, out of `served`, lie outside the range of the profile."""
    if not requests:
        return
    ranges = [
        f"{text} of {format_count(profile[key])} tokens"
        for key, text in (("valid_n_max", "suffixes"), ("valid_c_max", "contexts"))
        if profile.get(key)
    ]
    limits = f" (measured up to {' and '.join(ranges)})" if ranges else ""
    of = "" if served is None else f" of {format_count(served)}"
    yield (
        f"{format_count(requests)}{of} request times are extrapolated beyond the profile's "
        f"range{limits}."
    )
