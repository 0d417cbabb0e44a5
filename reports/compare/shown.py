"""A comparison as people and as machines read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from reports.compare.condition import Condition
from reports.compare.outcome import Compared, TwoRuns
from reports.console import print_line, print_table
from reports.results.summary import LOSS_WORDS
from reports.statistics import CLAIMS, Verdict
from simulator.base.units import format_bytes

MOST_ROWS = 60
HEAD = ("B is", "B - A", "95 % interval", "A", "B", "of A", "Holm p")
_METHODS = {"blocks": "blocks of time"}


def as_json(runs: TwoRuns, failures: list[tuple[Condition, Compared]]) -> dict[str, Any]:
    """Return everything as plain values."""
    return {
        "kind": runs.kind,
        "a": runs.a,
        "b": runs.b,
        "paired": runs.paired,
        "changes": [{"key": c.key, "a": c.a, "b": c.b} for c in runs.changes],
        "comparisons": [_plain(compared) for compared in runs.comparisons],
        "requests": dict(runs.requests),
        "lost_tokens": {k: {"a": a, "b": b} for k, (a, b) in runs.lost_tokens.items()},
        "notes": list(runs.notes),
        "margins": asdict(runs.margins),
        "failed": [
            {"condition": condition.text, "place": dict(compared.place)}
            for condition, compared in failures
        ],
    }


def print_comparison(runs: TwoRuns) -> None:
    """Print what differs in what was asked, then what differs in what came of it."""
    print_line(f"A: {runs.a}")
    print_line(f"B: {runs.b}")
    print()
    if runs.changes:
        rows = [(c.key, _given(c.key, c.a), _given(c.key, c.b)) for c in runs.changes]
        print_table(("what differs", "A", "B"), rows)
    else:
        print_line("settings, trace and versions are the same")
    for note in runs.notes:
        print_line(f"note: {note}")
    print()
    _print_figures(runs)
    if runs.kind == "run":
        _print_requests(runs)


def failure_line(condition: Condition, compared: Compared) -> str:
    """Return one line about a change that is beyond its limit, and what its interval says."""
    where = f" at {place_words(compared.place)}" if compared.place else ""
    change = compared.measure.shown_difference(compared.change)
    sure = "no interval" if compared.verdict == "unknown" else f"B is {compared.verdict}"
    return f"--fail-if {condition.text}: {change} ({_relative(compared)} of A){where}; {sure}"


def _print_figures(runs: TwoRuns) -> None:
    shown = list(runs.comparisons)
    if len(shown) > MOST_ROWS:
        shown = [compared for compared in shown if compared.verdict in CLAIMS]
    if runs.kind == "run":
        print_table(("", *HEAD), [(c.measure.name, *row_of(c)) for c in shown])
    for name in dict.fromkeys(c.measure.name for c in shown) if runs.kind == "sweep" else ():
        rows = [(place_words(c.place), *row_of(c)) for c in shown if c.measure.name == name]
        print_table(("", *HEAD), rows, title=name)
        print()
    print_line(counted(runs))
    if hidden := len(runs.comparisons) - len(shown):
        print_line(
            f"{hidden} that are neither better nor worse are not shown here; --json has them all"
        )
    print_line(evidence(runs))


def row_of(compared: Compared) -> list[str]:
    """Return what a table shows of one figure, in the order of HEAD."""
    measure, difference = compared.measure, compared.difference
    ends = (difference.low, difference.high) if difference else (None, None)
    p_value = "n/a"
    if compared.p_holm is not None:
        p_value = "< .001" if compared.p_holm < 0.001 else f"{compared.p_holm:.3f}"
    return [
        "n/a" if compared.verdict == "unknown" else compared.verdict,
        measure.shown_difference(compared.change),
        measure.shown_interval(*ends),
        measure.shown(compared.a),
        measure.shown(compared.b),
        _relative(compared),
        p_value,
    ]


def evidence(runs: TwoRuns) -> str:
    """Return what the intervals rest on."""
    rests: dict[str, list[str]] = {}
    for compared in runs.comparisons:
        difference = compared.difference
        if difference is not None and difference.low is not None:
            basis = f"{difference.count} {_METHODS.get(difference.method, difference.method)}"
            rests.setdefault(basis, []).append(compared.measure.name)
    shown = (f"{basis} ({', '.join(dict.fromkeys(names))})" for basis, names in rests.items())
    clauses = [f"intervals from {'; '.join(shown)}"] if rests else []
    missing: dict[str, list[str]] = {}
    for compared in runs.comparisons:
        if compared.difference is not None and compared.difference.reason:
            missing.setdefault(compared.difference.reason, []).append(compared.measure.name)
    for reason, names in missing.items():
        clauses.append(f"no interval ({', '.join(dict.fromkeys(names))}): {reason}")
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


def _print_requests(runs: TwoRuns) -> None:
    if moved := moved_words(runs):
        print_line(moved)
    rows = lost_rows(runs)
    if rows:
        print()
        print_table(("tokens not saved because", "A", "B", "B - A"), rows)


def _plain(compared: Compared) -> dict[str, Any]:
    difference = compared.difference
    return {
        "place": dict(compared.place),
        "measure": compared.measure.name,
        "unit": compared.measure.unit,
        "a": compared.a,
        "b": compared.b,
        "difference": compared.change,
        "low": difference and difference.low,
        "high": difference and difference.high,
        "resampled": difference and difference.method,
        "count": difference and difference.count,
        "freedom": difference and difference.freedom,
        "reason": difference and difference.reason,
        "relative": compared.relative,
        "p_holm": compared.p_holm,
        "margin": difference and difference.margin.width,
        "verdict": compared.verdict,
    }


def place_words(place: Mapping[str, Any]) -> str:
    """Return "branch, 8 GiB" of a cell of a sweep."""
    return ", ".join(_setting(key, value) for key, value in place.items())


def _setting(key: str, value: Any) -> str:
    if key == "cache.capacity":
        return "unbounded" if value is None else format_bytes(value)
    return str(value) if key.startswith("policy.") else f"{key.rpartition('.')[2]} {value}"


def _relative(compared: Compared) -> str:
    return "n/a" if compared.relative is None else f"{100 * compared.relative:+.1f} %"


def _given(key: str, value: Any) -> str:
    if key == "cache.capacity" and isinstance(value, int):
        return format_bytes(value)
    return "-" if value is None else str(value)
