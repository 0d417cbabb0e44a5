"""`milepost prototype`, and the same where only torch is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports.prototype import alone as prototype_alone
from tests.reports.cli.conftest import Milepost

# transformers looks for some of these by itself, so they are hidden once it has.
ALONE = """
import importlib.util, sys
sys.modules.update(dict.fromkeys(("simpy", "polars", "altair", "vl_convert", "msgspec")))
import torch, transformers
transformers.AutoModelForCausalLM
sys.modules.update(dict.fromkeys(("pydantic", "rich", "typer", "jinja2")))
from reports.prototype.alone import main
sys.exit(main())
"""
SMALL = ("--generator", "documents:count=1,tokens_median=40,question_tokens_median=4")
SMALL += ("--requests", "3", "--passes", "1")


def alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ALONE, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "TRANSFORMERS_VERBOSITY": "error"},
    )


def test_what_was_measured_beside_torch_alone_has_a_page_elsewhere(
    tmp_path: Path, milepost: Milepost
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    ended = alone(*SMALL, "--placer", "branch", "--out", tmp_path / "there")
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "toy-qwen3.5 (whole, float32)" in ended.stdout
    stored = tmp_path / "there" / "prototype.json"
    shown_again = milepost("prototype", "--from", stored, "--out", tmp_path / "here", "--json")
    assert shown_again.code == 0
    assert shown_again.json["requests"] == 3
    assert shown_again.json["setting"]["placer"] == "branch"
    assert (tmp_path / "here" / "prototype.html").stat().st_size > 100_000
    profile = json.loads((tmp_path / "there" / "profile.json").read_text())
    assert profile["kind"] == "toy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--requests", 0), "--requests: expected 1 to 10,000, found 0"),
        (("--passes", 101), "--passes: expected 1 to 100, found 101"),
        (("--load", 0), "--load: expected 1e-6 to 100, found 0"),
        (("--placer", "brunch"), "did you mean 'branch'?"),
        (("--generator", "dokuments"), "did you mean 'documents'?"),
        (("--capacity", "much"), "--capacity: expected a size"),
        (("--capacity", "8"), "8 bytes hold no KV; did you mean '8 GiB'?"),
        (("--model", "qwen9"), "cannot build a model 'qwen9'"),
        (
            ("--dtype", "int3", *SMALL),
            "--dtype: expected float32, bfloat16 or float16, found 'int3'",
        ),
        (("--profile", "qwen3.5-9b-h200:state=int8", *SMALL), "is lossy (KV is exact; states are"),
        (("--placer", "dense", *SMALL), "holds a state everywhere for free"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    milepost: Milepost, arguments: tuple[object, ...], message: str
) -> None:
    pytest.importorskip("torch")
    ended = milepost("prototype", *arguments)
    assert (ended.code, ended.err.count("error:")) == (2, 1)
    assert message in ended.err


def test_without_torch_it_says_what_to_install(
    milepost: Milepost,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("calibration.preflight._installed", lambda _: None)
    message = "error: calibration needs torch, which is not installed: pip install"
    ended = milepost("prototype")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(message)
    assert prototype_alone.main(["--out", str(tmp_path / "there")]) == 2
    assert capsys.readouterr().err.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_run_is_refused(milepost: Milepost, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    ended = milepost("prototype", "--from", tmp_path / "run.json")
    assert ended.code == 3
    assert "run.json: field 'schema_version': missing" in ended.err
