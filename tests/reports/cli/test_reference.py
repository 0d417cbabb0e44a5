"""The studies that are shipped, and the figures that real traces must give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.reports.cli.conftest import Milepost

UNBOUNDED = ("--server", "instant", "--set", "model.alignment=1", "--json")


@pytest.mark.parametrize(
    ("file", "block", "placer", "saved", "prompt"),
    [
        ("mooncake/conversation_trace", 512, "dense", 54_098_293, 144_793_823),
        ("mooncake/conversation_trace", 512, "last", 50_636_288, 144_793_823),
        ("mooncake/synthetic_trace", 512, "last", 31_135_744, 61_194_628),
        ("leval_docqa/leval_quality", 16, "dense", 1_128_176, None),
        ("leval_docqa/leval_quality", 16, "last", 0, None),
        ("tau_airline/tau_airline_gpt4o", 16, "last", 6_720_848, 7_474_167),
    ],
)
def test_saved_tokens_of_a_real_trace(
    file: str,
    block: int,
    placer: str,
    saved: int,
    prompt: int | None,
    shared: Path,
    milepost: Milepost,
) -> None:
    path = shared / "data" / f"{file}.jsonl.gz"
    ended = milepost("run", "--trace", path, "--block", block, "--placer", placer, *UNBOUNDED)
    assert ended.code == 0
    assert ended.json["saved_tokens"] == saved
    assert prompt is None or ended.json["prompt_tokens"] == prompt


def test_the_demo_is_a_study(milepost: Milepost) -> None:
    plan = milepost("sweep", ROOT / "studies" / "demo.toml", "--dry-run", "--json").json
    assert (plan["scenarios"], plan["replications"]) == (36, 5)
    assert plan["baseline"] == "block:size=1024"


def test_the_example_for_a_real_trace_is_a_study(milepost: Milepost, shared: Path) -> None:
    trace = shared / "data" / "mooncake" / "conversation_trace.jsonl.gz"
    flags = ("--set", f"workload.trace={trace}", "--dry-run", "--json")
    plan = milepost("sweep", ROOT / "studies" / "mooncake.toml", *flags).json
    assert (plan["cells"], plan["requests"]) == (21, 21 * 12_031)
