"""`milepost place`: checkpoint positions for an overlap histogram, and bounds from theory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reports.commands.again import html_page, typed_again
from reports.commands.declared import options
from reports.commands.options import JsonOption, ReadingOptions
from simulator.base.bounds import MAX_BUDGET
from simulator.base.errors import DataError, UsageError, printable

if TYPE_CHECKING:
    from reports.place.law_file import DepthLaw
    from reports.place.placement import PlacementQuestion

DEFAULT_BUDGET = 8
LONGEST = 2**40


@options
class PlaceCommand(ReadingOptions, JsonOption):
    """Place checkpoints for a law of overlap depths, and show what each of them saves.

    The law is the distribution of how many tokens a prompt shares with earlier ones.
    """

    depths: Annotated[
        Path | None, typer.Option(help="A histogram: CSV, Parquet or JSON with depth,weight.")
    ] = None
    from_trace: Annotated[
        Path | None,
        typer.Option("--from-trace", "--trace", help="A trace, whose overlaps make the histogram."),
    ] = None
    budget: Annotated[
        int | None, typer.Option(help="Checkpoints; 8 where neither this nor --price is given.")
    ] = None
    price: Annotated[
        str | None,
        typer.Option(help="Of a checkpoint, a request: tokens, or as in '2 ms' with --profile."),
    ] = None
    placer: Annotated[str, typer.Option(help="As in optimal or balanced.")] = "optimal"
    profile: Annotated[
        str | None, typer.Option(help="Name or JSON file: seconds as well as tokens.")
    ] = None
    length: Annotated[
        int | None, typer.Option(help="Of the prompt, in tokens; the deepest overlap by default.")
    ] = None
    page: Annotated[Path | None, typer.Option(help="Write a page with the staircase.")] = None

    def run(self) -> None:
        """Answer the question, and print it."""
        from reports.pages.place import place_report
        from reports.place.placement import answer
        from reports.report.showing import show_with_page

        html_page(self.page)
        law = self._law()
        question = _question(law, self.length, self.budget, self.price, self.placer, self.profile)
        placement = answer(question)
        if self.profile is not None:
            placement["notes"] += _beyond(self.profile, question.length)
        report = place_report(question.law, placement, typed_again("milepost place"))
        show_with_page(report, self.page, as_json=self.json)

    def _law(self) -> DepthLaw:
        """Return the distribution of overlap depths, from the histogram or the trace."""
        from reports.place.law_file import law_of_requests, read_law

        if (self.depths is None) == (self.from_trace is None):
            raise UsageError("give one of --depths FILE and --from-trace FILE")
        if self.depths is not None:
            if self.reading:
                raise UsageError(f"{', '.join(self.reading_settings())} belong to --from-trace")
            return read_law(self.depths)
        from workloads.opening import open_trace

        assert self.from_trace is not None
        from reports.study.template import template_of_profile

        template = None if self.profile is None else template_of_profile(self.profile)
        opened = open_trace(self.from_trace, default_template=template, **self.reading)
        if not len(opened):
            raise DataError(str(self.from_trace), "expected requests, found none")
        return law_of_requests(opened)


def _beyond(profile: str, length: int) -> list[str]:
    """Return a warning that seconds are extrapolated, if the profile's range is exceeded."""
    from calibration.catalogue import open_profile

    opened = open_profile(profile)
    if length <= min(opened.valid_n_max, opened.valid_c_max):
        return []
    return [
        f"Seconds of prompts of up to {length:,} tokens are extrapolated beyond the profile, which "
        f"is valid for prefills of up to {opened.valid_n_max:,} tokens behind up to "
        f"{opened.valid_c_max:,}."
    ]


def _question(
    law: DepthLaw,
    length: int | None,
    budget: int | None,
    price: str | None,
    placer: str,
    profile: str | None,
) -> PlacementQuestion:
    from reports.place.alone import own_budget, with_budget
    from reports.place.placement import PlacementQuestion

    deepest = int(law.depths[-1]) if len(law.depths) else 1
    length = deepest if length is None else length
    if not 1 <= length <= LONGEST:
        raise UsageError(f"--length: expected 1 to 2**40 tokens, found {length}")
    if budget is not None and not 0 <= budget <= MAX_BUDGET:
        raise UsageError(f"--budget: expected 0 to {MAX_BUDGET:,} checkpoints, found {budget}")
    stated = own_budget(placer)
    if budget is not None and stated is not None and budget != stated:
        raise UsageError(f"--budget {budget} contradicts the placer '{printable(placer)}'")
    budget = stated if budget is None else budget
    if price is not None and (budget is not None or placer != "optimal"):
        raise UsageError("--price: expected neither a budget nor a placer beside it")
    amount, in_seconds = (None, False) if price is None else _price(price)
    if in_seconds and profile is None:
        raise UsageError("--price in seconds needs --profile")
    budget = DEFAULT_BUDGET if budget is None else budget
    canonical = with_budget(placer, max(budget, 1))
    return PlacementQuestion(
        law.cut_at(length),
        length,
        budget,
        placer if placer in {"optimal", "greedy"} else canonical,
        amount,
        in_seconds,
        None if profile is None else _potential(profile, length),
    )


def _price(text: str) -> tuple[float, bool]:
    """Return a price, and whether it is in seconds (else in tokens)."""
    from simulator.base.units import parse_seconds

    try:
        amount = float(text)
    except ValueError:
        try:
            return parse_seconds(text, "--price"), True
        except UsageError:
            amount = math.nan
    if not amount >= 0:
        raise UsageError(
            f"--price: expected tokens, 0 or more, or a time such as '2 ms', found "
            f"'{printable(text, 60)}'"
        )
    return amount, False


def _potential(profile: str, length: int) -> Any:
    from calibration.catalogue import open_profile
    from policies.placement.seconds import saved_seconds
    from simulator.costs.cost_model import CostModel

    return saved_seconds(CostModel(open_profile(profile)), length)
