"""Text and table rows of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from policies.joint import names_of
from reports.compare.condition import Condition
from reports.compare.outcome import Compared, TwoRuns
from reports.results.pools import LOSS_WORDS
from reports.statistics import Verdict
from reports.words import capacity_words, known

_POLICY = "policy."
_METHODS = {"blocks": "blocks of time"}


def failure_line(condition: Condition, compared: Compared) -> str:
    """Return one line about a change that is beyond its limit, and what its interval says."""
    where = f" at {place_words(compared.place)}" if compared.place else ""
    change = compared.measure.shown_difference(compared.change)
    sure = "no interval" if compared.verdict == "unknown" else f"B is {compared.verdict}"
    return f"--fail-if {condition.text}: {change} ({_relative(compared)} of A){where}; {sure}"


def row_of(compared: Compared) -> list[str]:
    """Return what a table shows of one figure, in the order of its head."""
    measure = compared.measure
    return [
        "n/a" if compared.verdict == "unknown" else compared.verdict,
        measure.shown_difference(compared.change),
        measure.shown_interval(compared.low, compared.high),
        measure.shown(compared.a),
        measure.shown(compared.b),
        _relative(compared),
        known(compared.p_holm, lambda p: "< .001" if p < 0.001 else f"{p:.3f}"),
    ]


def evidence(runs: TwoRuns) -> str:
    """Return a sentence on how the intervals were computed."""
    rests: dict[str, list[str]] = {}  # measures by what their intervals rest on
    missing: dict[str, list[str]] = {}  # and by why they have none
    for compared in runs.comparisons:
        name, method = compared.measure.name, compared.resampled
        if method is not None and compared.low is not None:
            rests.setdefault(f"{compared.count} {_METHODS.get(method, method)}", []).append(name)
        if compared.reason:
            missing.setdefault(compared.reason, []).append(name)
    shown = (f"{basis} ({', '.join(dict.fromkeys(names))})" for basis, names in rests.items())
    clauses = [f"intervals from {'; '.join(shown)}"] if rests else []
    clauses += [
        f"no interval ({', '.join(dict.fromkeys(names))}): {reason}"
        for reason, names in missing.items()
    ]
    return "; ".join(clauses) or "no interval: too few requests to tell"


def counted(runs: TwoRuns) -> str:
    """Return how many figures are better, worse, tied and so on, of how many comparisons."""
    verdicts = [compared.verdict for compared in runs.comparisons]
    counts = ", ".join(
        f"{verdicts.count(verdict)} {verdict}"
        for verdict in get_args(Verdict)
        if verdict in verdicts
    )
    tested = sum(compared.tested for compared in runs.comparisons)
    how = "paired" if runs.paired else "unpaired"
    return (
        f"{how} figures of B: {counts}; tied: within {runs.margins.text}; Holm's correction is "
        f"for {tested} comparisons"
    )


def lost_rows(runs: TwoRuns) -> list[tuple[str, str, str, str]]:
    """Return cause, A, B and B - A of the tokens that were not saved."""
    return [
        (LOSS_WORDS.get(loss, loss), f"{a:,}", f"{b:,}", f"{b - a:+,}")
        for loss, (a, b) in runs.lost_tokens.items()
        if a or b
    ]


def moved_words(runs: TwoRuns) -> str:
    """Return how many requests save more, less and the same in B; empty where not paired."""
    counts = ", ".join(f"{count:,} {name}" for name, count in runs.requests.items())
    return f"requests that save in B: {counts}" if counts else ""


def place_words(place: Mapping[str, Any]) -> str:
    """Return "branch, 8 GiB" of a cell of a sweep."""
    policies = {key.removeprefix(_POLICY): place[key] for key in place if key.startswith(_POLICY)}
    names = names_of(policies, [*policies])
    joint = len(names) < len(policies)
    rest = [key for key in place if not (joint and key.startswith(_POLICY))]
    return ", ".join([*(names if joint else []), *(_setting(key, place[key]) for key in rest)])


def _setting(key: str, value: Any) -> str:
    if key == "cache.capacity":
        return capacity_words(value)
    return str(value) if key.startswith(_POLICY) else f"{key.rpartition('.')[2]} {value}"


def _relative(compared: Compared) -> str:
    return known(compared.relative, lambda share: f"{100 * share:+.1f} %")
