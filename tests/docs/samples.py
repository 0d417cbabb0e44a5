"""Small files under the names that the documentation uses."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from reports.cli import main
from tests.conftest import ROOT

GENERATOR = "0.6 documents:count=9,tokens_median=2000 + 0.4 chats:count=3,system_tokens_median=500"
REQUESTS = 700
RATE = 0.0035  # requests/s: two days and a bit
TRACES = {  # two traces, of different seeds, and the files that hold them
    1: ("my_trace.jsonl.gz", "conversation_trace.jsonl.gz", "last_week.jsonl.gz", "week.parquet"),
    2: ("synthetic_trace.jsonl.gz", "this_week.jsonl.gz", "agents.parquet", "chats.parquet"),
}
FETCHED = "traces/conversation_trace.jsonl"  # as `trace fetch` writes it
CHAT_LINES = 60
PROFILES = ("qwen3.5-9b-mine.json", "profile.json")  # as `calibrate` writes them
PRICES = "dollars_per_gib_hour = 0.005\ndollars_per_gpu_hour = 3.5\n"
OBJECTS = "obj_id,size\n" + "".join(f"{n * n % 37},{4096 * (n % 5 + 1)}\n" for n in range(500))
LAW = "depth,weight\n0,40\n900,25\n2000,20\n5000,10\n8000,5\n"


def make_samples(folder: Path) -> None:
    """Write all files into a folder."""
    words = ("trace", "generate", "--generator", GENERATOR, "--requests", REQUESTS, "--rate", RATE)
    for seed, names in TRACES.items():
        for suffix in (".jsonl.gz", ".parquet"):
            made = folder / f"made{suffix}"
            _milepost(*words, "--seed", seed, "--out", made)
            for name in names:
                if name.endswith(suffix):
                    shutil.copy(made, folder / name)
    (folder / FETCHED).parent.mkdir()
    (folder / FETCHED).write_bytes(gzip.decompress((folder / "my_trace.jsonl.gz").read_bytes()))
    for name in PROFILES:
        shutil.copy(ROOT / "calibration" / "profiles" / "qwen3.5-9b-h200.json", folder / name)
    (folder / "law.csv").write_text(LAW)
    (folder / "chats.jsonl").write_text("".join(_chat(number) for number in range(CHAT_LINES)))
    (folder / "objects.csv").write_text(OBJECTS)
    (folder / "prices.toml").write_text(PRICES)
    for name in ("studies", "Makefile"):
        (folder / name).symlink_to(ROOT / name)


def _chat(number: int) -> str:
    """Return a line of a chat log: one of three system prompts, and a question."""
    messages = [
        {"role": "system", "content": f"You are assistant {number % 3}. " + "Be brief. " * 50},
        {"role": "user", "content": f"Question {number}: " + "why is that so? " * 20},
        {"role": "assistant", "content": "Because it is. " * 10},
    ]
    return json.dumps({"timestamp": 10 * number, "messages": messages}) + "\n"


def _milepost(*words: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0
