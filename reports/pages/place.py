"""The report of `milepost place`: a plan of checkpoint positions, compared with the optimum.

The plan is evaluated under a law of overlaps: the distribution of how many leading tokens of a
prompt are shared with earlier prompts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reports.caveats import noted
from reports.palette import GREY, VERMILLION
from reports.place.charts import MOST_STEPS, savings_curve, staircase
from reports.report import Code, Number, Panel, Panels, Report, Section, Strong, Table, Terms
from reports.words import first_of
from simulator.base.units import format_seconds

if TYPE_CHECKING:
    from reports.place.law_file import DepthLaw

MOST_POSITIONS = 24  # listed in a sentence
MOST_BUDGETS = 20
MOST_ROWS = 500


def place_report(law: DepthLaw, placement: dict[str, Any], command: str) -> Report:
    """Return the report of a plan.

    Parameters
    ----------
    law
        The distribution of overlaps, cut at the prompt's length.
    placement
        The plan and its figures, as `reports.place.placement.answer` returns them.
    command
        The command line that makes the report again.
    """
    asked, positions = placement["law"], placement["positions"]
    return Report(
        kind="placement",
        title=f"Where to checkpoint: {law.name}",
        sections=(
            Section(
                answer=(
                    Code(placement["placer"]),
                    " saves ",
                    Strong(f"{_tokens(placement['expected_saved_tokens'])} tokens a request"),
                    f" of a mean overlap of {_tokens(asked['mean_overlap_tokens'])}, in prompts of "
                    f"up to {asked['length_tokens']:,} tokens.",
                ),
                also=(f"Checkpoints at {_listed(positions)}.",),
                numbers=_numbers(placement),
                blocks=(
                    Panels(title="The staircase", panels=_panels(law, placement)),
                    Terms(title="The plan", id="plan", items=list(_facts(placement))),
                    _budgets(placement),
                    Terms(
                        title="What the theory says", id="theory", items=list(_theory(placement))
                    ),
                    *_steps(law, positions),
                ),
            ),
        ),
        caveats=tuple(_caveats(placement)),
        command=command,
        data=placement,
    )


def _panels(law: DepthLaw, placement: dict[str, Any]) -> tuple[Panel, ...]:
    optimal = placement["savings_by_budget"] == placement["optimum"]["savings_by_budget"]
    drawn = (("this placer, which is optimal", VERMILLION),)
    return (
        Panel(
            "staircase",
            "Every checkpoint is a step under the curve",
            "The curve says how many requests overlap at least this far; the area under it is the "
            "mean overlap. A request resumes at the last step it reaches, so the area under the "
            "steps is what the plan saves. The rest is computed again.",
            staircase(law, placement["positions"], placement["law"]["length_tokens"]),
            (("requests that overlap this far", GREY), ("saved by the plan", VERMILLION)),
        ),
        Panel(
            "savings",
            "What another checkpoint buys",
            "The optimum gains less with every checkpoint, so a price for one fixes their number: "
            "the elbow is where the next would gain less than the average one.",
            savings_curve(placement),
            drawn if optimal else (("optimum", GREY), ("this placer", VERMILLION)),
        ),
    )


def _numbers(placement: dict[str, Any]) -> tuple[Number, ...]:
    law, saved, elbow = placement["law"], placement["expected_saved_tokens"], placement["elbow"]
    wholes = {
        "Saved of the overlap": law["mean_overlap_tokens"],
        "Of the optimum": placement["optimum"]["expected_saved_tokens"],
    }
    shares = [
        Number(
            label,
            f"{saved / whole:.1%}" if whole else "n/a",
            f"{_tokens(saved)} of {_tokens(whole)} tokens a request",
        )
        for label, whole in wholes.items()
    ]
    return (
        *shares,
        Number(
            "Checkpoints",
            f"{len(placement['positions']):,}",
            f"budget {placement['budget']:,}, {law['distinct_depths']:,} distinct depths",
        ),
        Number(
            "Elbow",
            "n/a" if elbow is None else f"{elbow['budget']:,}",
            "" if elbow is None else f"at {_tokens(elbow['price_tokens'])} tokens a request each",
        ),
    )


def _facts(placement: dict[str, Any]) -> Iterator[tuple[str, str]]:
    law, price, seconds = placement["law"], placement["price"], placement["seconds"]
    overlap = law["mean_overlap_tokens"]
    requests = "" if law["requests"] is None else f"{law['requests']:,} requests, "
    yield "law", f"{law['name']}: {requests}{law['distinct_depths']:,} distinct depths"
    yield "mean overlap", f"{_tokens(overlap)} tokens a request; {law['missed_share']:.1%} miss"
    yield "budget", f"{placement['budget']:,} checkpoints"
    if price is not None:
        yield "price", f"{price['per_checkpoint']} {price['unit']} a checkpoint"
    for name, plan in (("saved", placement), ("optimum", placement["optimum"])):
        saved = plan["expected_saved_tokens"]
        parts = f"({_tokens(saved)} / {_tokens(overlap)})"
        share = f", {saved / overlap:.1%} of the overlap {parts}" if overlap else ""
        yield name, f"{_tokens(saved)} tokens a request{share}"
    if seconds is not None:
        saved, best = seconds["expected_saved_seconds"], seconds["best_saved_seconds"]
        yield "saved time", f"{format_seconds(saved)} a request; at best {format_seconds(best)}"
        yield "best in time", _listed(seconds["best_positions"])


def _budgets(placement: dict[str, Any]) -> Table:
    savings, best = placement["savings_by_budget"], placement["optimum"]["savings_by_budget"]
    gains = [0.0, *placement["marginal_gains"]]
    last = len(savings) - 1
    shown = sorted({*range(0, last + 1, max(1, -(-last // MOST_BUDGETS))), last})
    return Table(
        title="Saved tokens a request, by budget",
        id="budgets",
        head=("Checkpoints", placement["placer"], "Gain of the last", "Optimum"),
        rows=[(f"{k:,}", _tokens(savings[k]), _tokens(gains[k]), _tokens(best[k])) for k in shown],
    )


def _theory(placement: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the theory predicts for the plan, by name; docs/placement.md has the proofs."""
    uniform, elbow = placement["uniform"], placement["elbow"]
    bounds, held = placement["bounds"], placement["hold_out"]
    yield (
        "balanced",
        f"saves {_tokens(uniform['expected_saved_tokens'])} tokens a request here; gap at most "
        f"{uniform['worst_gap_tokens']:,} tokens, {_tokens(uniform['mean_gap_tokens_if_uniform'])} "
        "on average if overlaps were uniform",
    )
    yield "greedy", f"{placement['optimum']['greedy_share']:.2%} of the optimum (63.21% is sure)"
    if elbow is not None:
        yield (
            "elbow",
            f"budget {elbow['budget']:,} at a price of {_tokens(elbow['price_tokens'])} tokens a "
            f"request for each checkpoint: {_tokens(elbow['expected_saved_tokens'])} saved",
        )
    if bounds is not None:
        yield (
            "sampling",
            f"with {bounds['confidence']:.0%} confidence, a plan from {bounds['requests']:,} "
            f"independent requests loses at most {_tokens(bounds['lost_tokens_at_most'])} tokens a "
            f"request{': says nothing here' if bounds['vacuous'] else ''}",
        )
    if held is not None:
        by_variation = _tokens(held["lost_tokens_at_most_by_total_variation"])
        by_distance = _tokens(held["lost_tokens_at_most_by_kolmogorov_distance"])
        yield (
            "hold-out",
            f"planned on the first {held['planned_on_requests']:,} requests, the plan loses "
            f"{_tokens(held['lost_tokens'])} tokens a request on the rest, of "
            f"{_tokens(held['best_saved_tokens'])} that a plan made for them saves",
        )
        yield (
            "drift bounds",
            f"on that it loses at most {by_variation} by their total variation "
            f"({held['total_variation']:.3f}) and {by_distance} by their Kolmogorov distance "
            f"({held['kolmogorov_distance']:.3f})",
        )


def _steps(law: DepthLaw, positions: list[int]) -> list[Table]:
    """Return a table of each checkpoint: position, requests that reach it, tokens it saves."""
    rows: list[tuple[str, ...]] = []
    before = 0
    for number, position in enumerate(positions[:MOST_ROWS], start=1):
        reach = float(law.weights[law.depths >= position].sum()) / law.total
        gain = _tokens((position - before) * reach)
        rows.append((str(number), f"{position:,}", f"{reach:.1%}", gain))
        before = position
    head = ("Checkpoint", "Position, tokens", "Requests that reach it")
    steps = Table(
        title="Checkpoints",
        id="steps",
        head=(*head, "Saved by its step, tokens a request"),
        rows=rows,
        on_terminal=False,
    )
    return [steps] if rows else []


def _caveats(placement: dict[str, Any]) -> Iterator[str]:
    yield from noted(placement["notes"])
    yield (
        "Savings are expectations under this law, misses included, for a cache that holds every "
        "checkpoint and all KV; `milepost run` simulates eviction and queues."
    )
    if placement["bounds"] is not None and placement["bounds"]["vacuous"]:
        yield "The sampling bound exceeds the prompt's length: it says nothing here."
    if len(placement["positions"]) > MOST_STEPS:
        yield f"Only the first {MOST_STEPS:,} steps are drawn."
    if len(placement["positions"]) > MOST_ROWS:
        yield (
            f"The page's table has the first {MOST_ROWS} checkpoints; the JSON of the same command "
            "has all."
        )


def _tokens(value: float) -> str:
    """Return a mean number of tokens as text, with four digits or, from 100, one decimal."""
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def _listed(positions: list[int]) -> str:
    """Return the positions as text, cut after the first `MOST_POSITIONS`."""
    return first_of([f"{position:,}" for position in positions], MOST_POSITIONS) or "none"
