from __future__ import annotations

import pytest
import vl_convert

from calibration.catalogue import open_profile
from reports.pages.trace import trace_report
from reports.report.html import render
from reports.report.terminal import print_report
from reports.trace.charts import working_sets
from reports.trace.memory import GIB, Memory
from tests.workloads.inspection.small_traces import trace_of
from workloads.inspection import inspect

PROMPTS = [[1, 2, 3], [1, 2], [1, 2, 3], [5], [5, 6]]


@pytest.fixture
def inspection():
    return inspect(trace_of(PROMPTS, times=[0, 100, 200, 300, 400]))


def test_a_working_set_is_kv_and_a_state_for_each_different_prompt(inspection):
    memory = Memory("p", kv_bytes_per_token=GIB, state_bytes=10 * GIB)
    last_minute, everything = inspection.working_sets.sets
    assert last_minute.window == 60
    assert inspection.working_sets.moments == (80, 160, 240, 320, 400)
    assert last_minute.prompts == (0, 0, 1, 1, 1)  # one use was 60 s ago
    assert everything.tokens == (3, 3, 3, 4, 5)
    assert everything.prompts == (1, 2, 2, 3, 4)
    assert memory.gib(last_minute) == [0, 0, 3 + 10, 1 + 10, 2 + 10]
    assert memory.gib(everything) == [13, 23, 23, 34, 45]
    assert memory.figures(everything) == "mean 27.6, peak 45 GiB (5 GiB of KV and 4 states)"


def test_json_has_weights_the_assumption_and_kv_of_lru(inspection):
    document = Memory("p", GIB, 10 * GIB).as_json(inspection)
    assert document["assumed_states"] == "one state at the end of each different prompt"
    assert [each["peak"] for each in document["working_sets_gib"]] == [13, 45]
    assert document["lru_kv_gib_for_share"] == {
        share: float(tokens) for share, tokens in inspection.lru.tokens_for_share.items()
    }


def test_the_terminal_and_the_page_say_what_is_assumed(inspection, capsys):
    memory = Memory.of(open_profile("qwen3.5-9b-h200"))
    report = trace_report(inspection, "", memory)
    print_report(report)
    printed = " ".join(capsys.readouterr().out.split())
    assert "32.0 KiB of KV a token, 49.1 MiB a state; assumed: one state at the end of" in printed
    assert "in memory, 60 seconds" in printed
    page = render(report)
    assert "The working set, with qwen3.5-9b-h200" in page
    assert "one state at the end of each different prompt" in page
    assert "The working set, with" not in render(trace_report(inspection, ""))


def test_thousands_of_gib_are_written_out_on_the_axis(inspection):
    chart = working_sets(inspection, Memory("p", 25 * GIB, 250 * GIB))  # 1,125 GiB at the end
    drawn = vl_convert.vegalite_to_svg(chart.to_dict())
    assert ">1,000<" in drawn
    assert "e+" not in drawn
