"""What is said of a file names no flag that its format refuses."""

from __future__ import annotations

import re
from array import array

import numpy as np
import pytest

from simulator.base.errors import UsageError
from tests.workloads.formats.examples import EXAMPLES, FOLDERS
from workloads.formats import FORMATS
from workloads.instants import Instants
from workloads.opening import read_rows
from workloads.options import ReadOptions
from workloads.rows import to_trace
from workloads.time_units import note_doubt
from workloads.validation import anomalies_of

ALWAYS = {"jitter", "on_bad_line", "format"}
FLAG = re.compile(r"--([a-z][a-z-]+)")


@pytest.fixture(params=sorted(FORMATS))
def name(request):
    return request.param


@pytest.fixture
def path(name, tmp_path):
    path = tmp_path / "example"
    if name in FOLDERS:
        path.mkdir()
        for file, data in FOLDERS[name].items():
            (path / file).write_bytes(data)
    else:
        path.write_bytes(EXAMPLES[name])
    return path


def made_odd(rows):
    """Give rows one session of shrinking prompts, coarse times, and a unit that cannot be."""
    count = len(rows)
    rows.session = array("i", [0] * count)
    rows.time_ticks = Instants()
    for at in range(count):
        rows.time_ticks.append(at * 10**10, rows.ticks_per_second)
    rows.laid_out = rows.dated = False
    note_doubt(rows)
    return rows


def flags(text):
    return {flag.replace("-", "_") for flag in FLAG.findall(text)} - ALWAYS


def read(name, path, **options):
    chosen = {key: value for key, value in options.items() if key in FORMATS[name].options}
    return read_rows(path, ReadOptions(on_bad_line="skip", **chosen), name)


@pytest.mark.parametrize("rows_are", ["cumulative", "incremental"])
def test_hints_are_options_of_the_format(name, path, rows_are):
    text = text_of(name, path, rows_are)
    assert text
    assert flags(text) <= FORMATS[name].options


def text_of(name, path, rows_are):
    """Return all that is said of a file, in validation, notes or an error."""
    try:
        anomalies = anomalies_of(made_odd(read(name, path, rows=rows_are)))
        sentences = [anomaly.detail for anomaly in anomalies]
        sentences += to_trace(made_odd(read(name, path, rows=rows_are)), "t").notes
    except UsageError as error:  # a file that names whole prompts
        return str(error)
    return " ".join(sentences)


def test_a_hint_is_there_where_the_format_knows_the_option(tmp_path):
    hints = {}
    for name, text in {
        "vidur": "arrived_at,num_prefill_tokens,num_decode_tokens,session_id\n"
        "0,90,1,a\n60,20,1,a\n",
        "bailian": EXAMPLES["bailian"].decode(),
    }.items():
        path = tmp_path / name
        path.write_text(text)
        rows = read(name, path)
        rows.prompt_tokens = array("q", [90, 20])
        hints[name] = {a.what: a.detail for a in anomalies_of(rows)}["shrinking-turn"]
    assert "--rows" in hints["vidur"]
    assert hints["bailian"] == "shorter than the turn before"


def test_oddities_were_made(path, name):
    rows = read(name, path)
    if len(rows) < 2:
        return
    anomalies = {a.what for a in anomalies_of(made_odd(rows))}
    assert ("implausible-times" in anomalies) == ("time_unit" in FORMATS[name].options)
    assert np.isin("no-times", sorted(anomalies)) == 0
