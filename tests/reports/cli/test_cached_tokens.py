"""Whether cached tokens lie inside the input tokens is a setting of every study."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reports.cli.conftest import Milepost


def test_a_study_says_what_cached_tokens_mean(milepost: Milepost, tmp_path: Path) -> None:
    usage = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.cache_read.input_tokens": 40}
    span = {"trace_id": "t", "start_time": "2026-02-26T10:00:00Z", "attributes": usage}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"spans": [span, span | {"start_time": "2026-02-26T10:00:01Z"}]}))

    def prompts(*flags: str) -> int:
        ended = milepost("run", "--trace", path, "--placer", "last", "--json", *flags)
        assert ended.code == 0, ended.err
        return int(json.loads(ended.out)["prompt_tokens"])

    assert prompts() == prompts("--set", "workload.cached_tokens=inside") == 200
    assert prompts("--set", "workload.cached_tokens=outside") == 280
    ended = milepost("run", "--trace", path, "--set", "workload.cached_tokens=beside")
    assert ended.code == 2
    assert "cached_tokens" in ended.err
