"""The result of a command as a value, of which terminal, page and JSON are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.version import version


class Code(str):
    """A piece of a sentence that is shown as code: the name of a policy, a flag."""

    __slots__ = ()


class Strong(str):
    """A piece of a sentence that carries the answer, such as a figure."""

    __slots__ = ()


class ChosenPolicy(str):
    """A piece of a sentence that a page replaces by the policy which its reader has chosen."""

    __slots__ = ()


Sentence = str | tuple[str, ...]


def plain(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return sentence if isinstance(sentence, str) else "".join(sentence)


@dataclass(frozen=True, slots=True)
class Number:
    """A key number: its label, the figure with its unit, and what the figure rests on."""

    label: str
    figure: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend of policies.

    Parameters
    ----------
    name, colour
        Of the series.
    dash, shape
        How it is drawn, in SVG.
    marks
        Remarks in small type, such as "looks ahead".
    alike
        Policies with the same results, which this one stands for.
    """

    name: str
    colour: str
    dash: str
    shape: str
    marks: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart with its title and caption.

    Parameters
    ----------
    id
        Of the element in a page; unique in the report.
    title, caption
        What stands above and below the chart.
    chart
        An altair chart.
    swatches
        Name and colour of what is drawn; the dash, as SVG has it, where it is a line.
    image
        The file name of the chart as an image; its `id` if empty.
    image_title
        The title of the image, which stands alone; the panel's if empty.
    schema
        Whether the chart is validated. Of many charts of one make, checking the first suffices.
    """

    id: str
    title: Sentence
    caption: str
    chart: Any
    swatches: tuple[tuple[str, ...], ...] = ()
    image: str = ""
    image_title: str = ""
    schema: bool = True


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of the time that charts over time show, and its unit."""

    least: float
    most: float
    unit: str

    @property
    def step(self) -> float:
        """A hundredth of the whole."""
        return (self.most - self.least) / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBlock:
    """A part of a section.

    Parameters
    ----------
    title
        The heading; none if empty.
    id
        Of the heading in a page.
    folded
        Whether terms and listings are folded below their title on a page.
    on_page, on_terminal
        Where the block is shown.
    """

    title: str = ""
    id: str = ""
    folded: bool = False
    on_page: bool = True
    on_terminal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels(ReportBlock):
    """A group of charts; with a `range`, sliders choose the time that the section's charts show."""

    panels: tuple[Panel, ...]
    range: Range | None = None
    on_terminal: bool = False


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table: its text, a second line in small type, and the number to sort by."""

    text: str
    note: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that sorts its column, and what the column means."""

    text: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(ReportBlock):
    """A table.

    Parameters
    ----------
    head
        A heading a column.
    rows
        Cells of each row; the first cell names the row.
    words
        Numbers of the columns that hold text, which a page aligns left.
    literal
        Whether cells are settings, which are shown as they stand, and not figures.
    most
        How many rows a page shows.
    beyond
        Where the rest of the rows is, as in "capacity.json".
    choices
        Values of the second column; with `focus`, a page shows the rows of one of them first.
    brief
        Numbers of the columns that a terminal shows; all of them if empty.
    """

    head: Sequence[str | Heading]
    rows: Sequence[Sequence[str | TableCell]]
    words: tuple[int, ...] = ()
    literal: bool = False
    most: int = 500
    beyond: str = ""
    choices: tuple[str, ...] = ()
    focus: str = ""
    brief: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(ReportBlock):
    """Names, and a sentence on each."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(ReportBlock):
    """Sentences, each with a remark in small type that may be empty."""

    items: Sequence[tuple[Sentence, Sentence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """An answer and what it rests on: the whole of most reports, one workload of a study.

    Parameters
    ----------
    answer
        The answer in one sentence, with its interval.
    also
        Sentences that belong to the answer.
    numbers
        The key numbers, four of them as a rule.
    blocks
        What follows, in its order.
    id, name
        Where a report has several sections: the element's id, and the heading.
    keys
        The legend of policies, each of which lights up in all charts and tables of the page.
    more_keys
        How many policies the legend leaves to the table.
    lit
        Whether policies light up in this section.
    """

    answer: Sentence
    also: tuple[Sentence, ...] = ()
    numbers: tuple[Number, ...] = ()
    blocks: tuple[ReportBlock, ...] = ()
    id: str = ""
    name: str = ""
    keys: tuple[Key, ...] = ()
    more_keys: int = 0
    lit: bool = False

    @property
    def panels(self) -> Iterator[Panel]:
        """The charts of the section."""
        for block in self.blocks:
            if isinstance(block, Panels):
                yield from block.panels


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a command.

    Parameters
    ----------
    kind
        What was asked, in one or two words: "capacity".
    title
        Of the page.
    sections
        At least one; the answer of the report is that of the first.
    caveats
        Sentences on what speaks against the figures.
    command
        How a reader may make the report again.
    data
        All that was computed, as plain values: what `--json` prints.
    data_title
        What a page calls the data; empty where it does not show them.
    remark
        A sentence behind the sections, as on what the page leaves out.
    page_file, data_file
        The names under which a folder keeps the page and the data; no data if empty.
    milepost_version
        Of the program that computed the result.
    """

    kind: str
    title: str
    sections: tuple[Section, ...]
    caveats: tuple[str, ...]
    command: str
    data: Mapping[str, Any]
    data_title: str = ""
    remark: str = ""
    page_file: str = "report.html"
    data_file: str = ""
    milepost_version: str = field(default_factory=version)

    @property
    def answer(self) -> str:
        """The answer as plain text."""
        return plain(self.sections[0].answer)

    @property
    def panels(self) -> Iterator[Panel]:
        """The charts of all sections."""
        for section in self.sections:
            yield from section.panels
