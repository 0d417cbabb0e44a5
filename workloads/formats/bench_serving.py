"""Results of serving benchmarks: the lengths of the requests sent, and when.

Source: vLLM, `bench serve --save-result --save-detailed` (one JSON document), and SGLang,
`bench_serving --output-file --output-details` (JSON lines, one a run). Each run has the arrays
`input_lens` and `output_lens` and, where the tool writes them, `start_times` in seconds and
`errors`. The prompts are not in the file, so they share nothing.

- A request with an error was sent nevertheless: it is kept and noted. A prompt of no token is left
  out and noted.
- Arrays of another length than `input_lens` make a bad line. A run with a bad request is refused as
  a whole.
- Runs in one file share one clock; their requests follow each other in the file, which is noted.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import msgspec

from simulator.base.errors import DataError
from workloads.formats.format import Head, TraceFormat
from workloads.options import ReadOptions
from workloads.reading.fields import MISSING, Problem, output_problem, time_problem
from workloads.reading.json_document import read_json_documents
from workloads.reading.json_lines import read_json_lines
from workloads.reading.reader import read_start
from workloads.rows import Rows
from workloads.sessions.length_rows import Fields, LengthRows, SizedRequest, length_problem

FIELDS = Fields("input_lens", "output_lens", "start_times")


class _Run(msgspec.Struct, gc=False):
    input_lens: list[int] | None = None
    output_lens: list[int] | None = None
    start_times: list[Decimal] | None = None
    errors: list[str | None] | None = None

    def problem(self) -> Problem | None:
        """Return which array is missing or not as long as `input_lens`, None if none is."""
        if self.input_lens is None or self.output_lens is None:
            return "input_lens" if self.input_lens is None else "output_lens", MISSING
        count = len(self.input_lens)
        for field in ("output_lens", "start_times", "errors"):
            there = getattr(self, field)
            if there is not None and len(there) != count:
                return field, f"expected {count} entries as in 'input_lens', found {len(there)}"
        return None


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a file; raise `DataError` where it has no request."""
    taken = LengthRows.of(options, FIELDS, options.ticks_per_second("s"))

    def take(run: _Run, number: int) -> Problem | None:
        return run.problem() or _problem(run, taken) or _add(run, number, taken)

    whole = read_start(path, 64).partition(b"\n")[0].strip() == b"{"
    (read_json_documents if whole else read_json_lines)(path, taken.rows, _Run, take)
    if not len(taken.rows) and taken.rows.first_bad is None:
        raise DataError(str(path), "expected requests, found none")
    return taken.rows


def _problem(run: _Run, taken: LengthRows) -> Problem | None:
    """Return what is wrong with a request of a run, before any is added."""
    lengths = zip(run.input_lens or [], run.output_lens or [], strict=True)
    for at, (prompt, output) in enumerate(lengths):
        time = None if run.start_times is None else run.start_times[at]
        problem = (
            length_problem(FIELDS.prompt, prompt)
            or output_problem(FIELDS.output, output)
            or time_problem(FIELDS.time, time, taken.rows.ticks_per_second)
        )
        if problem is not None:
            return f"{problem[0]}[{at}]", problem[1]
    return None


def _add(run: _Run, number: int, taken: LengthRows) -> Problem | None:
    lengths = zip(run.input_lens or [], run.output_lens or [], strict=True)
    for at, (prompt, output) in enumerate(lengths):
        time = None if run.start_times is None else run.start_times[at]
        problem = taken.take(SizedRequest(prompt, output, time), number)
        if problem is not None:
            return f"{problem[0]}[{at}]", problem[1]
        if run.errors is not None and run.errors[at]:
            taken.rows.note("failure", number, "a request with an error: kept")
    if number > 1:
        taken.rows.note("several-runs", number, "a further run: its requests follow in the file")
    return None


def matches(head: Head) -> bool:
    """Return whether the record has the arrays of lengths."""
    return head.has("input_lens") and (head.record is None or head.has("output_lens"))


BENCH_SERVING = TraceFormat(
    name="bench-serving",
    title="results of vLLM's or SGLang's serving benchmark: seconds and lengths, no prefixes",
    read=read,
    matches=matches,
    options=frozenset({"time_unit"}),
    not_needed=dict.fromkeys(
        ("duration", "completed", "failed", "num_prompts", "ttfts", "itls", "generated_texts"),
        "says what came of the requests, not what was asked",
    ),
)
