"""Messages about a study file end with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.api import Study
from simulator.base.errors import UsageError
from tests.reports.cli.conftest import Milepost


@pytest.mark.parametrize(
    ("wrong", "key", "line"),
    [
        ("[study]\nseed = 1\nwarmup = 2.0\n", "study.warmup", 3),
        ("[arrivals]\n\nrate = -1\n", "arrivals.rate", 3),
        ("[workload]\ngenerator = 'nope'\n", "workload.generator", 2),
        ("[grid]\n'policy.placer' = ['last', 'nope']\n", "policy.placer", 2),
        ("[model]\nprofile = 'nope'\n", "model.profile", 2),
        ("[model]\nprofil = 'nope'\n", "model.profil", 2),
        ("\n[study]\nbaseline = 'nope'\n", "study.baseline", 3),
    ],
)
def test_messages_end_with_the_line(
    wrong: str, key: str, line: int, milepost: Milepost, tmp_path: Path
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(wrong)
    ended = milepost("sweep", path, "--dry-run")
    assert ended.code == 2
    assert ended.err.startswith(f"error: {path}: ")
    assert f"'{key}'" in ended.err
    assert ended.err.endswith(f" (line {line})\n")


def test_what_is_not_from_the_file_has_no_line(milepost: Milepost, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("[study]\nwarmup = 0.1\n[grid]\n'policy.placer' = ['last', 'none']\n")
    assert "(line" not in milepost("sweep", path, "--warmup", 2, "--dry-run").err
    assert "(line" not in milepost("sweep", path, "--placer", "nope", "--dry-run").err
    with pytest.raises(UsageError) as caught:
        Study.read(path, {"study.warmup": 2.0})
    assert "(line" not in str(caught.value)
