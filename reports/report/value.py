"""The result of a command as a value, from which text, page and JSON are rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.version import version


class Code(str):
    """A part of a sentence that is shown as code: the name of a policy, a flag."""

    __slots__ = ()


class Strong(str):
    """A part of a sentence that is emphasized, such as a figure."""

    __slots__ = ()


class ChosenPolicy(str):
    """A part of a sentence that a page replaces by the policy which the reader has chosen."""

    __slots__ = ()


Sentence = str | tuple[str, ...]


def plain(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return sentence if isinstance(sentence, str) else "".join(sentence)


def coded(text: str) -> Sentence:
    """Return a text as a sentence in which the parts between backticks are code."""
    pieces = re.split("`([^`]+)`", text)
    return tuple(Code(piece) if number % 2 else piece for number, piece in enumerate(pieces))


@dataclass(frozen=True, slots=True)
class Number:
    """A key number: its label, the figure with its unit, and what the figure is based on."""

    label: str
    figure: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend of policies.

    Parameters
    ----------
    name, colour
        The name and colour of the series.
    dash, shape
        The dash of its line and the shape of its points, in SVG.
    marks
        Remarks in small type, such as "looks ahead".
    alike
        Policies with the same results, which this entry also stands for.
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
        The id of the HTML element; unique in the report.
    title, caption
        The texts above and below the chart.
    chart
        An altair chart.
    swatches
        Name and colour of each series; for a line also its dash, in SVG.
    image
        The file name of the chart as an image; `id` if empty.
    image_title
        The title of the image; `title` if empty.
    schema
        Whether the chart is validated. Of many charts made alike, checking the first suffices.
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
    """The time that charts over time can show: its two ends and its unit."""

    least: float
    most: float
    unit: str

    @property
    def step(self) -> float:
        """A hundredth of the range."""
        return (self.most - self.least) / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBlock:
    """A part of a section.

    Parameters
    ----------
    title
        The heading; none if empty.
    id
        The id of the heading in a page.
    folded
        Whether a page shows terms and listings collapsed below their title.
    on_page, on_terminal
        Whether the block is shown there.
    """

    title: str = ""
    id: str = ""
    folded: bool = False
    on_page: bool = True
    on_terminal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels(ReportBlock):
    """A group of charts; with a `range`, sliders choose the part of the time that they show."""

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
    """The heading of a column, which sorts it when clicked, and the meaning of the column."""

    text: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(ReportBlock):
    """A table.

    Parameters
    ----------
    head
        One heading a column.
    rows
        Cells of each row; the first cell names the row.
    words
        Indices of the columns that hold text, which a page aligns left.
    literal
        Whether cells are settings, which are shown unchanged, rather than figures.
    most
        The largest number of rows that a page shows.
    rest
        The file with the remaining rows, such as "capacity.json".
    choices
        Values of the second column; with `focus`, a page shows the rows of one of them first.
    brief
        Indices of the columns that a terminal shows; all of them if empty.
    """

    head: Sequence[str | Heading]
    rows: Sequence[Sequence[str | TableCell]]
    words: tuple[int, ...] = ()
    literal: bool = False
    most: int = 500
    rest: str = ""
    choices: tuple[str, ...] = ()
    focus: str = ""
    brief: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(ReportBlock):
    """A list of names, each with a sentence that explains it."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(ReportBlock):
    """A list of sentences, each with a remark in small type that may be empty."""

    items: Sequence[tuple[Sentence, Sentence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """An answer with its evidence: all of most reports, or one workload of a study.

    Parameters
    ----------
    answer
        The answer in one sentence, with its interval.
    also
        Further sentences of the answer.
    numbers
        The key numbers, usually four.
    blocks
        The blocks below the answer, in order.
    id, name
        The id of the HTML element and the heading, where a report has several sections.
    keys
        The legend of policies; an entry that is chosen is highlighted in all charts and tables.
    more_keys
        How many policies are in the table but not in the legend.
    lit
        Whether policies can be highlighted in this section.
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
        The kind of question, in one or two words: "capacity".
    title
        The title of the page.
    sections
        At least one; the answer of the report is that of the first.
    caveats
        Sentences on what limits the figures.
    command
        The command line that makes the report again.
    data
        All that was computed, as plain values: what `--json` prints.
    data_title
        The heading of the data in a page; empty where a page does not show them.
    remark
        A sentence after the sections, such as what the page leaves out.
    page_file, data_file
        File names of the page and the data in a folder; no data if empty.
    files
        File name -> further JSON documents of the folder.
    milepost_version
        The version of Milepost that computed the result.
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
    files: Mapping[str, Any] = field(default_factory=dict)
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
