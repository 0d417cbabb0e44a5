"""`milepost capacity` as it is called."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from reports.cli import main
from reports.pages.capacity import kept_report
from reports.report.html import render
from tests.reports.browser import assert_sound, look_at
from tests.reports.capacity.examples import toml

HOSTILE = "</script><img src=x onerror=alert(1)>"
CAPACITIES = [20, 40, 48, 60, 76, 90]


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command line in this process; return exit code, stdout and stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in ("capacity", *arguments)])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    assert isinstance(end.value.code, int)
    return end.value.code, output.out, output.err


def test_the_answer_is_a_sentence_with_an_interval(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study = toml(tmp_path, CAPACITIES)
    code, out, _ = ended(
        capsys, study, "--target", "token_hit_rate>=38%", "--within", "0", "-q", "--no-sensitivity"
    )
    assert code == 0
    text = " ".join(out.split())
    assert re.match(r"66 B \(.*\) suffice for token hit rate >= 38 % with .*fifo\.", text), text
    assert "67 B" in text
    assert list(tmp_path.glob("out*")) == []


def test_json_and_page_say_the_same_and_are_made_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study, out = toml(tmp_path, CAPACITIES), tmp_path / "out"
    code, printed, _ = ended(
        capsys, study, "--target", "token_hit_rate>=16%", "--out", out, "--json", "--jobs", 1
    )
    assert code == 0
    report = json.loads(printed)
    kept = json.loads((out / "capacity.json").read_text())
    assert report == {"answer": report["answer"], "caveats": report["caveats"]} | kept
    fifo, lru = report["answers"]
    assert fifo["capacity_bytes"] == 48
    assert fifo["missed_above_bytes"] == [60]
    assert not fifo["halved"]
    assert lru["missed_above_bytes"] == []
    page = (out / "capacity.html").read_text()
    assert "More memory misses the target again at 60 B" in page
    (out / "capacity.html").unlink()
    with pytest.raises(SystemExit) as again:
        main(["report", str(out)])
    assert again.value.code == 0
    assert (out / "capacity.html").read_text() == page


def test_a_profile_without_times_has_an_answer_and_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sizes = ("--server", "instant", "--profile", "sizes:model=jamba-v0.1", "--requests", 60)
    target = ("--capacity", "1GiB,32GiB", "--target", "token_hit_rate>=1%", "--no-sensitivity")
    code, out, _ = ended(capsys, *sizes, *target, "--jobs", 1, "-q", "--out", tmp_path / "out")
    assert code == 0
    assert "has sizes only: there are no times." in " ".join(out.split())
    assert "there are no times" in (tmp_path / "out" / "capacity.html").read_text()
    assert kept_report(tmp_path / "out").answer in " ".join(out.split())


def test_a_missed_target_has_an_exit_code_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study = toml(tmp_path, [20, 40])
    code, out, _ = ended(capsys, study, "--target", "token_hit_rate>=90%", "-q")
    assert code == 99
    assert out.startswith("No capacity that was tried meets token hit rate >= 90 %")
    ended(capsys, study, "--target", "token_hit_rate>=90%", "-q", "--out", tmp_path / "out")
    assert "grey bar" not in next(kept_report(tmp_path / "out").panels).caption  # none is drawn


def test_failed_cells_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no\nluck")

    monkeypatch.setattr("reports.capacity.measures.measure", broken)
    study = toml(tmp_path, [20, 40])
    code, _, err = ended(
        capsys,
        study,
        "--target",
        "token_hit_rate>=9%",
        "-q",
        "--out",
        tmp_path / "out",
        "--jobs",
        1,
    )
    assert code == 4
    assert "RuntimeError: no\\nluck" in err
    page = (tmp_path / "out" / "capacity.html").read_text()
    assert "failed: RuntimeError: no\\nluck" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--target"),
        (["--target", "speed<=1"], "unknown metric 'speed'"),
        (["--target", "p99_ttft>=1s"], "as less is better"),
        (["--target", "p50_ttft<=1s", "--target", "p90_ttft<=1s"], "ask for each by itself"),
        (["--target", "p50_ttft<=1s", "--target", "p50_ttft<=2s"], "says all: p50_ttft<=1s"),
        (["--target", "p50_ttft<=1s", "--target", "p50_ttft>=2s"], "as less is better"),
        (["--target", "p50_ttft<=1s", "--cluster", "tcp://localhost:1"], "needs --out DIR"),
        (["--target", "p50_ttft<=1s", "--cluster", "tcp://a:1", "--jobs", "2"], "contradicts"),
        (["--target", "p50_ttft<=1s", "--set", "grid.cache.capacity=[]"], "at least 1 item"),
        (
            ["--target", "p50_ttft<=1s", "--set", "grid.cache.capacity=['2KiB', 2048]"],
            "'2KiB' and 2048 are the same capacity",
        ),
        (["--target", "cost<=1"], "needs --prices"),
        (["--target", "p50_ttft<=1s", "--prices", "missing.toml"], "missing.toml: cannot be read"),
        (["--target", "p50_ttft<=1s", "--within", "-1"], "--within"),
        (["--target", "p50_ttft<=1s", "--set", "cache.capacity=much"], "expected a size"),
        (["--target", "p50_ttft<=1s", "--out", "study.toml"], "study.toml"),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    toml(tmp_path, CAPACITIES)
    monkeypatch.chdir(tmp_path)
    code, out, err = ended(capsys, "study.toml", *arguments, "-q")
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_capacity_of_its_own_is_not_used_and_that_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study = toml(tmp_path, CAPACITIES)
    asked = (study, "--target", "token_hit_rate>=38%", "-q", "--no-sensitivity", "--json")
    code, out, err = ended(capsys, *asked, "--set", "cache.capacity=1GiB")
    assert code == 0
    assert "note: --set: 'cache.capacity' is not used" in err
    assert json.loads(out)["answers"][0]["capacity_bytes"] <= 90


def test_a_p99_of_too_few_requests_is_refused_before_anything_is_simulated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study = toml(tmp_path, [20, 40])
    code, _, err = ended(capsys, study, "--target", "p99_ttft<=1s", "-q", "--jobs", 1)
    assert code == 2
    assert "expected 368 counted requests or more, found 12" in err
    assert err.count("\n") == 1


def test_the_page_is_closed_to_the_world_and_draws(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    study, out = toml(tmp_path, CAPACITIES), tmp_path / "out"
    ended(capsys, study, "--target", "token_hit_rate>=38%", "--out", out, "-q", "--jobs", 1)
    report = json.loads((out / "capacity.json").read_text())
    report["title"] = report["answers"][0]["name"] = HOSTILE
    (out / "capacity.json").write_text(json.dumps(report))
    page = render(kept_report(out))
    assert page == render(kept_report(out))
    assert HOSTILE not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r'(src|href)="https?:', page)
    assert_sound(look_at(page, tmp_path), page.count('class="chart"'))
