"""The examples of docs/comparing.md and docs/capacity.md."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path

from reports.cross_workload.overview import overview_of
from reports.pages.capacity import kept_report
from reports.report import plain
from simulator.base.files import write_text
from studies.figures.gallery import capacity_figures
from studies.figures.parts import ROOT, Figures, Part, Workplace
from studies.figures.sweeps import reasons, sentences_of, worlds_of

CONVERSATION = "mooncake/conversation_trace.jsonl.gz"
SYNTHETIC = "mooncake/synthetic_trace.jsonl.gz"
EXAMPLE = re.compile(r'(?<=```toml\n)title = "Four evictions.*?\n(?=```)', re.DOTALL)
REQUESTS = 8000
LEAST_MEMORY = (
    *("--placer", "adaptive", "--eviction", "lru", "--eviction", "value", "--warmup", "0.1"),
    *("--capacity", "16GiB,64GiB,256GiB,1TiB", "--target", "token_hit_rate>=20%"),
)


def _compared(place: Workplace) -> Figures:
    """Return the table that `milepost compare` prints of two runs, without differing settings."""
    for name, placer in (("before", "adaptive"), ("after", "branch")):
        out = place.folder / name
        if not out.is_dir():
            more = ("--set", f"workload.requests={REQUESTS}")
            place.milepost("run", *more, "--capacity", "8 GiB", "--placer", placer, "--out", out)
    printed = place.milepost("compare", place.folder / "before", place.folder / "after")
    lines = [line.rstrip() for line in printed.split("\n")]
    head = next(at for at, line in enumerate(lines) if "B - A" in line)
    table = list(takewhile(lambda line: line.startswith(" "), lines[head:]))
    return {"requests": REQUESTS, "table": table}


def _two_workloads(place: Workplace) -> Figures:
    """Return the output of the study in docs/comparing.md, on the traces named there."""
    study = place.folder / "four.toml"
    write_text(study, study_in((ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")))
    for trace in (CONVERSATION, SYNTHETIC):
        link = place.folder / Path(trace).name
        link.unlink(missing_ok=True)
        link.symlink_to(place.trace(trace))
    folder = place.study("two_workloads", "sweep", study)
    worlds = worlds_of(folder)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return {
        "sentences": sentences_of(folder),
        "comparisons": overview_of(worlds).comparisons,
        "reasons": reasons(worlds),
        "warmup": manifest["warmup_auto"],
    }


def study_in(document: str) -> str:
    """Return the study file shown in a document."""
    match = EXAMPLE.search(document)
    assert match is not None, "docs/comparing.md shows a study"
    return match[0]


def _least_memory(place: Workplace) -> Figures:
    trace = place.trace(CONVERSATION)
    folder = place.study("least_memory", "capacity", "--trace", trace, *LEAST_MEMORY)
    report = kept_report(folder)
    methods = sorted({each["method"] for each in report.data["answers"]})
    also = [plain(text).removesuffix(".") for text in report.sections[0].also]
    return capacity_figures(folder) | {"sentences": [report.answer, *also], "evidence": methods}


PARTS = (
    Part("compared", "comparing", 0.3, _compared, cheap=True),
    Part("two_workloads", "comparing", 3, _two_workloads, (CONVERSATION, SYNTHETIC)),
    Part("least_memory", "capacity", 4, _least_memory, (CONVERSATION,)),
)
