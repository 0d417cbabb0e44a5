"""A report as text for a terminal: the answer, its tables, and the caveats as notes."""

from __future__ import annotations

from textwrap import wrap

from reports.console import print_line, print_table, stdout
from reports.report.value import (
    Heading,
    Listing,
    Report,
    ReportBlock,
    Section,
    Table,
    TableCell,
    Terms,
    plain,
)

MOST_ROWS = 60  # rows of a table; a page or the JSON has the rest


def print_report(report: Report) -> None:
    """Print a report as text on stdout."""
    for section in report.sections:
        _print_section(section)
    if report.caveats:
        print()
    for caveat in report.caveats:
        _print_folded(f"note: {caveat}", "      ")


def _print_section(section: Section) -> None:
    if section.name:
        print_line(f"{section.name}:")
    _print_folded(plain(section.answer), "")
    for text in section.also:
        _print_folded(plain(text), "")
    for block in section.blocks:
        if block.on_terminal:
            print()
            _print_block(block)


def _print_block(block: ReportBlock) -> None:
    if isinstance(block, Table):
        _print_rows(block)
    elif isinstance(block, Terms):
        print_table(("", ""), block.items, title=block.title or None)
    elif isinstance(block, Listing):
        if block.title:
            print_line(f"{block.title}:")
        for text, remark in block.items:
            _print_folded(f"  {plain(text)}{f' ({plain(remark)})' if remark else ''}", "    ")


def _print_rows(table: Table) -> None:
    shown = table.brief or range(len(table.head))
    head = [_text(table.head[column]) for column in shown]
    rows = [[_text(row[column]) for column in shown] for row in table.rows[:MOST_ROWS]]
    print_table(head, rows, title=table.title or None)
    if (more := len(table.rows) - len(rows)) > 0:
        print_line(f"{more:,} more rows are in {table.rest or 'the JSON of the same command'}")


def _text(cell: str | TableCell | Heading) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell.text} ({cell.note})" if isinstance(cell, TableCell) and cell.note else cell.text


def _print_folded(text: str, indent: str) -> None:
    """Print a text wrapped to the width of the terminal, with all lines but the first indented."""
    lines = wrap(text, stdout().width, subsequent_indent=indent, break_on_hyphens=False)
    for line in lines or [""]:
        print_line(line)
