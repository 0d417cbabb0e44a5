from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

from reports.artifacts.journal import Journal
from tests.reports.execution.conftest import Whole
from tests.reports.execution.sweeps import CELLS, Sweep, entries, finish, results, start, wait_for

KILLS = 25
MOST_STARTS = 60


def wait_at_random(sweep: Sweep, out: Path, draw: random.Random) -> None:
    """Wait for a moment somewhere before, between or after the cells."""
    done = len(entries(out))
    if done < CELLS:
        wait_for(sweep, out, done + draw.randint(0, 2))
        time.sleep(draw.uniform(0, 0.02))
    else:
        time.sleep(draw.uniform(0, 1))


def test_killed_25_times_it_ends_with_the_same_bytes(whole: Whole, tmp_path: Path) -> None:
    draw, out = random.Random(25), tmp_path / "out"
    kept: dict[str, tuple[int, int]] = {}
    kills = starts = 0
    while kills < KILLS:
        starts += 1
        assert starts < MOST_STARTS
        sweep = start(whole.study, out, "--jobs", "2" if starts % 8 == 4 else "1")
        wait_at_random(sweep, out, draw)
        kills += sweep.kill()
        now = entries(out)
        assert kept.items() <= now.items()  # no cell was written again
        kept = now
        for name, content in results(out).items():
            assert content == whole.results[name]
    assert finish(whole.study, out, "--jobs", "1") == whole.results
    assert kept.items() <= entries(out).items()
    assert len(entries(out)) == CELLS


def test_what_a_kill_leaves_is_sound(whole: Whole, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep = start(whole.study, out, "--jobs", "2", page=False)
    wait_for(sweep, out, 5)
    sweep.kill()
    study = json.loads((out / "journal" / "header.json").read_text())["study"]
    with Journal(out, study) as journal:
        outcomes = [journal.read(name) for name in entries(out)]
    assert len(outcomes) >= 5
    assert all(outcome is not None and outcome.error is None for outcome in outcomes)


def test_a_killed_worker_is_replaced(whole: Whole, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep = start(whole.study, out, "--jobs", "2", page=False)
    wait_for(sweep, out, 2)
    sweep.signal(signal.SIGSTOP)
    os.kill(sweep.workers()[0], signal.SIGKILL)
    sweep.signal(signal.SIGCONT)
    assert sweep.end() == (0, "")
    assert results(out) == whole.tables
