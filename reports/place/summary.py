"""The answer of `milepost place` as tables."""

from __future__ import annotations

from typing import Any

from reports.console import print_table
from simulator.base.units import format_seconds

MOST_POSITIONS = 24
MOST_BUDGETS = 20


def print_placement(placement: dict[str, Any]) -> None:
    """Print an answer for people."""
    print_table(("", ""), _facts(placement))
    print_table(
        ("checkpoints", placement["placer"], "gain of the last", "optimum"),
        _budgets(placement),
        title="\nSaved tokens a request, by budget",
    )
    print_table(("", ""), theory(placement), title="\nWhat the theory says")
    for note in placement["notes"]:
        print(f"note: {note}")


def tokens(value: float) -> str:
    """Return a mean number of tokens with four digits."""
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def listed(positions: list[int]) -> str:
    """Return positions, the first ones where there are many."""
    shown = ", ".join(f"{position:,}" for position in positions[:MOST_POSITIONS])
    more = len(positions) - MOST_POSITIONS
    return (shown or "none") + (f" and {more:,} more" if more > 0 else "")


def _facts(placement: dict[str, Any]) -> list[tuple[str, str]]:
    law, saved = placement["law"], placement["expected_saved_tokens"]
    overlap, best = law["mean_overlap_tokens"], placement["optimum"]["expected_saved_tokens"]
    requests = "" if law["requests"] is None else f"{law['requests']:,} requests, "
    rows = [
        ("law", f"{law['name']}: {requests}{law['distinct_depths']:,} distinct depths"),
        ("mean overlap", f"{tokens(overlap)} tokens a request; {law['missed_share']:.1%} miss"),
        ("prompt", f"{law['length_tokens']:,} tokens"),
        ("placer", f"{placement['placer']}, {placement['budget']:,} checkpoints"),
        ("positions", listed(placement["positions"])),
        ("saved", f"{tokens(saved)} tokens a request{_share(saved, overlap)}"),
        ("optimum", f"{tokens(best)} tokens a request{_share(best, overlap)}"),
    ]
    if placement["price"] is not None:
        price = placement["price"]
        rows.insert(4, ("price", f"{price['per_checkpoint']} {price['unit']} a checkpoint"))
    return rows + _seconds(placement["seconds"])


def _share(saved: float, overlap: float) -> str:
    if not overlap:
        return ""
    return f", {saved / overlap:.1%} of the overlap ({tokens(saved)} / {tokens(overlap)})"


def _seconds(seconds: dict[str, Any] | None) -> list[tuple[str, str]]:
    if seconds is None:
        return []
    saved, best = seconds["expected_saved_seconds"], seconds["best_saved_seconds"]
    return [
        ("saved time", f"{format_seconds(saved)} a request; at best {format_seconds(best)}"),
        ("best in time", listed(seconds["best_positions"])),
    ]


def _budgets(placement: dict[str, Any]) -> list[tuple[str, ...]]:
    savings, best = placement["savings_by_budget"], placement["optimum"]["savings_by_budget"]
    gains = [0.0, *placement["marginal_gains"]]
    last = len(savings) - 1
    step = max(1, -(-last // MOST_BUDGETS))
    shown = sorted({*range(0, last + 1, step), last})
    return [(f"{k:,}", tokens(savings[k]), tokens(gains[k]), tokens(best[k])) for k in shown]


def theory(placement: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the theory says of an answer: a name and a sentence each."""
    uniform, elbow = placement["uniform"], placement["elbow"]
    mean_gap = tokens(uniform["mean_gap_tokens_if_uniform"])
    rows = [
        (
            "balanced",
            f"saves {tokens(uniform['expected_saved_tokens'])} tokens a request here; gap at most "
            f"{uniform['worst_gap_tokens']:,} tokens, {mean_gap} on average if overlaps were "
            "uniform",
        ),
        ("greedy", f"{placement['optimum']['greedy_share']:.2%} of the optimum (63.21% is sure)"),
    ]
    if elbow is not None:
        rows.append(
            (
                "elbow",
                f"budget {elbow['budget']:,} at a price of {tokens(elbow['price_tokens'])} "
                "tokens a request for each checkpoint: "
                f"{tokens(elbow['expected_saved_tokens'])} saved",
            )
        )
    return rows + _bounds(placement["bounds"]) + _hold_out(placement["hold_out"])


def _bounds(bounds: dict[str, Any] | None) -> list[tuple[str, str]]:
    if bounds is None:
        return []
    sentence = (
        f"with {bounds['confidence']:.0%} confidence, a plan from {bounds['requests']:,} "
        f"independent requests loses at most {tokens(bounds['lost_tokens_at_most'])} tokens a "
        "request"
    )
    return [("sampling", sentence + (": says nothing here" if bounds["vacuous"] else ""))]


def _hold_out(held: dict[str, Any] | None) -> list[tuple[str, str]]:
    if held is None:
        return []
    by_variation = tokens(held["lost_tokens_at_most_by_total_variation"])
    by_distance = tokens(held["lost_tokens_at_most_by_kolmogorov_distance"])
    return [
        (
            "hold-out",
            f"planned on the first {held['planned_on_requests']:,} requests, the plan loses "
            f"{tokens(held['lost_tokens'])} tokens a request on the rest, of "
            f"{tokens(held['best_saved_tokens'])} that a plan made for them saves",
        ),
        (
            "drift bounds",
            f"on that it loses at most {by_variation} by their total variation "
            f"({held['total_variation']:.3f}) and {by_distance} by their Kolmogorov distance "
            f"({held['kolmogorov_distance']:.3f})",
        ),
    ]
