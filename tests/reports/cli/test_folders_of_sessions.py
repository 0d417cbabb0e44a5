from __future__ import annotations

import json
from pathlib import Path

from tests.reports.cli.conftest import Milepost


def test_a_folder_of_sessions_is_replayed_as_one_trace(milepost: Milepost, tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(3):
        requests = [
            {"t": 5.0 * turn, "in": 640 + 64 * turn, "out": 1, "ranges": [[0, 10 + turn]]}
            for turn in range(4)
        ]
        session = {"id": str(number), "block_size": 64, "requests": requests}
        (folder / f"trace_{number}.json").write_text(json.dumps(session))
    flags = ("--trace", folder, "--placer", "last", "--json", "--session-rate", 0.001)
    first = milepost("run", *flags)
    assert first.code == 0
    assert first.json["requests"]["total"] == 12
    assert "3 are spread, 0.001 a second" in first.err
    again = milepost("run", *flags, "--set", "workload.seed=0")
    assert again.json["saved_tokens"] == first.json["saved_tokens"]
    ended = milepost("trace", "inspect", folder, "--session-rate", 0.001, "--seed", 5, "--json")
    assert ended.json["sessions"] == 3
    assert ended.json["span_seconds"] > 100


def test_a_session_rate_is_refused_where_a_file_tells_times(
    milepost: Milepost, trace_file: Path
) -> None:
    ended = milepost("trace", "inspect", trace_file, "--session-rate", 1)
    assert ended.code == 2
    assert "error: --session-rate: " in ended.err
    assert "has no sessions, or tells when they start" in ended.err
