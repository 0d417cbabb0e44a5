from __future__ import annotations

import re
from pathlib import Path

import pytest

from calibration.catalogue import describe_profiles, open_profile, profile_names
from simulator.base.errors import DataError, UsageError
from simulator.costs.geometry import MODELS
from simulator.costs.profile import profile_to_json

SHIPPED = ["qwen3.5-0.8b-h200", "qwen3.5-2b-h200", "qwen3.5-9b-h200"]


def test_shipped_profiles() -> None:
    assert profile_names() == SHIPPED
    for name in SHIPPED:
        profile = open_profile(name)
        assert profile.profile_id == name
        assert profile.kind == "composed"
        assert "ai-dynamo/aiconfigurator@095f58a" in profile.source
        assert profile.licence == "Apache-2.0"
        geometry = MODELS[name.removesuffix("-h200")]
        assert profile.state_bytes == geometry.state_bytes
        assert profile.kv_bytes_per_token == geometry.kv_bytes_per_token


def test_every_row_can_be_opened_by_its_name() -> None:
    rows = describe_profiles()
    assert [row.name for row in rows][:3] == SHIPPED
    assert len(rows) == 19
    for row in rows:
        profile = open_profile(row.name)
        assert profile.profile_id == row.name
        assert (row.kind, row.source) == (profile.kind, profile.source)
        assert (row.state_bytes, row.valid_n_max) == (profile.state_bytes, profile.valid_n_max)


def test_analytic_names() -> None:
    assert open_profile("analytic:model=qwen3.5-9b") == open_profile(
        "analytic: model = qwen3.5-9b , gpu = h200"
    )
    assert open_profile("analytic:gpu=a100,model=qwen3.5-9b,count=2").profile_id == (
        "analytic:model=qwen3.5-9b,gpu=a100,count=2"
    )


def test_paths(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(profile_to_json(open_profile("qwen3.5-2b-h200")), encoding="utf-8")
    assert open_profile(str(path)) == open_profile("qwen3.5-2b-h200")
    with pytest.raises(DataError, match="No such file"):
        open_profile("missing.json")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qwen3.5-9b-h20", "unknown profile 'qwen3.5-9b-h20'; did you mean 'qwen3.5-9b-h200'"),
        ("", "unknown profile ''; expected one of: qwen3.5-0.8b-h200"),
        ("a\nb", "unknown profile 'a\\nb'"),
        ("analytic", "expected a model, as in analytic:model=qwen3.5-27b"),
        ("analytic:", "expected a model"),
        ("analytic:qwen3.5-9b", "expected key=value, found 'qwen3.5-9b'"),
        ("analytic:model=", "expected key=value"),
        ("analytic:modl=x", "unknown key 'modl'; did you mean 'model'"),
        ("analytic:model=a,model=b", "'model' is told twice"),
        ("analytic:model=qwen3.5-9b,count=two", "expected a whole number of GPUs, found 'two'"),
        ("analytic:model=qwen3.5-9b,count=²", "expected a whole number"),
        ("analytic:model=qwen3.5-9b,count=1000", "count"),
        ("analytic:model=qwen3.5-9,gpu=h200", "did you mean 'qwen3.5-9b'"),
    ],
)
def test_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        open_profile(name)
    assert "\n" not in str(caught.value)
