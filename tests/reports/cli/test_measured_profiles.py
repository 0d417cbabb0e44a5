"""What `milepost profiles show` tells of a profile that says it was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reports.cli.conftest import Milepost

SHIPPED = Path(__file__).parents[3] / "calibration" / "profiles"


def measured(folder: Path, **changes: Any) -> Path:
    """Return the path of a shipped profile that says of itself that it was measured."""
    data = json.loads((SHIPPED / "qwen3.5-9b-h200.json").read_text())
    data |= {"kind": "measured"} | changes
    data["model"] |= {"dtype": "bfloat16"}
    path = folder / "mine.json"
    path.write_text(json.dumps(data))
    return path


def test_what_ran_is_told(milepost: Milepost, tmp_path: Path) -> None:
    software = {"torch": "2.11.0", "transformers": "5.17.0", "kernels": "fla-core 0.4.1"}
    output = milepost("profiles", "show", measured(tmp_path, software=software)).out
    text = " ".join(output.split())
    assert "torch 2.11.0; transformers 5.17.0; fla-core 0.4.1; weights in bfloat16" in text


def test_what_is_not_proved_is_told(milepost: Milepost, tmp_path: Path) -> None:
    path = measured(tmp_path)
    text = " ".join(milepost("profiles", "show", path).out.split())
    assert "No exactness gate is recorded: nothing shows that states can be resumed." in text
    assert "Nothing was held out: no error of the fit is known." in text
    path = measured(tmp_path, exactness={"fp32_max_abs": 2e-6, "bug_max_abs": 0.05})
    assert "exactness gate" not in milepost("profiles", "show", path).out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exactness": {"fp32_max_abs": 0.003}}, "field 'exactness.fp32_max_abs': expected"),
        (
            {"model": {"name": "m", "scale": "group x 0"}},
            "field 'model.scale': expected 'whole' or",
        ),
    ],
)
def test_what_no_calibration_writes_is_refused(
    milepost: Milepost, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    ended = milepost("profiles", "show", measured(tmp_path, **changes))
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert message in ended.err
