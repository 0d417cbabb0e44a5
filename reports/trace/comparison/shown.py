"""The sentences that `milepost trace compare` prints, those to be believed first."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from reports.console import print_line, stdout
from reports.trace.comparison.comparing import Comparison
from reports.trace.comparison.differences import Difference

HEADINGS = {
    "beyond chance": "Beyond chance:",
    "may be chance": "May be chance:",
    "not tested": "Not tested, as too little is there:",
    "the same": "The same in both:",
}


def print_comparison(comparison: Comparison) -> None:
    """Print what changed, how sure that is, and what was compared."""
    print_line(headline(comparison))
    for verdict, heading in HEADINGS.items():
        differences = comparison.of(verdict)
        if differences:
            print_line("")
            print_line(heading)
            _print_listed(differences)
    print_line("")
    for note in comparison.notes:
        _print_wrapped(note, "")


def headline(comparison: Comparison) -> str:
    """Return what was compared, and how many of the measures differ beyond chance."""
    sizes = " and ".join(
        f"{letter} ({name}, {len(side.trace):,} requests)"
        for letter, name, side in zip(
            "AB", (comparison.a, comparison.b), comparison.sides, strict=True
        )
    )
    tested = sum(each.p_value is not None for each in comparison.differences)
    if not tested:
        return f"{sizes}: too little to tell differences from chance"
    beyond = len(comparison.of("beyond chance"))
    return f"{sizes} differ beyond chance in {beyond} of {tested} measures"


def _print_listed(differences: Sequence[Difference]) -> None:
    for each in differences:
        _print_wrapped(with_p_value(each), "  ")


def with_p_value(difference: Difference) -> str:
    """Return a sentence with its p-value, where there is one and something differs."""
    if difference.adjusted_p_value is None or not difference.size:
        return difference.sentence
    return f"{difference.sentence}; p {p_value(difference.adjusted_p_value)}"


def p_value(adjusted: float) -> str:
    """Return a p-value with two digits."""
    return f"{adjusted:.2f}" if adjusted >= 0.1 else f"{adjusted:.2g}"


def _print_wrapped(text: str, indent: str) -> None:
    folded = fill(
        text,
        stdout().width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    "[: len(indent) * 2],
    )
    for line in folded.splitlines():
        print_line(line)
