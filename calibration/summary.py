"""The summary that a calibration prints at its end."""

from __future__ import annotations

from pathlib import Path

from simulator.base.units import format_bytes
from simulator.costs.profile import Profile


def summary_lines(profile: Profile, out: Path) -> list[str]:
    """Return a summary of a profile: sizes, coefficients, errors, warnings."""
    prefill, valid = profile.prefill, profile.prefill.valid
    lines = [
        f"profile      {profile.profile_id} ({profile.kind}, {profile.model.scale})",
        f"hardware     {profile.hardware.name}",
        f"state        {format_bytes(profile.state_bytes)} a checkpoint",
        f"KV           {format_bytes(profile.kv_bytes_per_token)} a token",
        f"F            {_table(profile)}",
        f"e, g         {prefill.e_us_per_pair:.3g} us a pair, {prefill.g_us_per_token:.3g} us a "
        "token of context",
        f"valid        prefills to {valid.n_max:,} tokens behind contexts to {valid.c_max:,}",
    ]
    return [*lines, *_exactness(profile), *_validation(profile), f"written to   {out}"]


def _table(profile: Profile) -> str:
    """Return a few entries of the prefill table F, which gives seconds by number of tokens."""
    table = profile.prefill.F
    entries = list(zip(table.n, table.us, strict=True))
    chosen = entries[:: max(len(entries) // 4, 1)]
    return ", ".join(f"F({n:,}) = {us / 1e3:.3g} ms" for n, us in chosen)


def _exactness(profile: Profile) -> list[str]:
    """Return the line on the exactness check (resumed against uninterrupted prefill)."""
    exactness = profile.exactness
    if exactness is None or exactness.fp32_max_abs is None or exactness.bug_max_abs is None:
        return []
    error, bug = f"{exactness.fp32_max_abs:.1e}", f"{exactness.bug_max_abs:.1e}"
    line = f"exactness    {error} off in fp32; mistakes show as {bug}"
    if exactness.kernels_max_abs is not None:
        line += f"; {exactness.kernels_max_abs:.1e} off with the kernels that ran"
    return [line]


def _validation(profile: Profile) -> list[str]:
    """Return the lines on held-out errors, and the warnings."""
    validation = profile.validation
    if validation is None:
        return []
    errors = [
        f"held out     {row.regime}: {row.mean:.1%} in the mean over {row.points} points, worst "
        f"{row.worst:+.1%}, repeated runs {row.noise:.1%} apart"
        for row in validation.held_out
    ]
    return [*errors, *(f"warning      {text}" for text in validation.warnings)]
