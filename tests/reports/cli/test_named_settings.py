"""Whatever is wrong with a setting is told by the name under which it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reports.api import Study
from reports.commands.declared import keys_of
from reports.commands.sweep import SweepCommand
from simulator.base.errors import SettingError, UsageError
from tests.reports.cli.conftest import Milepost
from workloads.opening import open_trace

# Values that each setting refuses, some when the study is read, others when the trace is.
REFUSED: list[tuple[str, Any]] = [
    ("workload.block", 0),
    ("workload.block", 1 << 31),
    ("workload.format", "nope"),
    ("workload.on_bad_line", "hide"),
    ("workload.time_unit", "hours"),
    ("workload.rows", "both"),
    ("workload.rows", "conversation"),  # which the format does not have
    ("workload.tokenizer", "nope"),
    ("workload.jitter", -1),
    ("workload.session_rate", 0.0),
    ("workload.session_rate", 2.0),
    ("workload.seed", -1),
    ("arrivals.rate", 0.0),
    ("arrivals.rate", 2.0),  # the trace has times of its own
    ("arrivals.process", "nope"),
    ("model.profile", "nope"),
    ("model.alignment", 0),
    ("model.draws", True),  # one replication has no interval
    ("cache.capacity", "8 potatoes"),
    ("cache.pools", "halves"),
    ("cache.pools", "split:states=8 potatoes"),
    ("cache.cut", "all"),
    ("cache.evicts", "all"),
    ("server.kind", "fast"),
    ("server.queue_limit", -1),
    ("server.horizon", "0 s"),
    ("policy.placer", "nope"),
    ("policy.placer", "block:size=0"),
    ("policy.eviction", "nope"),
    ("policy.eviction", "kv=lru,states=lru"),  # there is one pool
    ("policy.eviction", "kv=lru"),
    ("policy.admission", "nope"),
    ("study.seed", -1),
    ("study.replications", 0),
    ("study.replications", 5),
    ("study.until_ci", "200 %"),
    ("study.until_ci", "1 %"),
    ("study.max_replications", 7),
    ("study.baseline", "nope"),
    ("study.baseline", "last"),
    ("study.warmup", 2.0),
]
OF_FLAGS = {key: f"--{name.replace('_', '-')}" for name, key in keys_of(SweepCommand).items()}


def flag_of(key: str) -> str:
    return OF_FLAGS.get(key, f"--{key.partition('.')[2].replace('_', '-')}")


NO_FLAG = ("workload.seed", "model.alignment", "model.draws", "server.queue", "server.horizon")


def toml(key: str, value: Any) -> str:
    section, _, name = key.partition(".")
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"[{section}]\n{name} = {shown}\n"


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_in_a_study_file(
    key: str, value: Any, trace_file: Path, milepost: Milepost, tmp_path: Path
) -> None:
    study = tmp_path / "s.toml"
    text = f"[workload]\ntrace = '{trace_file}'\n"
    more = toml(key, value)
    study.write_text(text + more.removeprefix("[workload]\n"))
    ended = milepost("sweep", study, "--dry-run")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(f"error: {study}")
    assert f"'{key}'" in ended.err


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_by_set(key: str, value: Any, trace_file: Path, milepost: Milepost) -> None:
    text = f"{key}={str(value).lower() if isinstance(value, bool) else value}"
    ended = milepost("sweep", "--trace", trace_file, "--set", text, "--dry-run")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(f"error: --set: '{key}'")


@pytest.mark.parametrize(
    ("key", "value"), [row for row in REFUSED if not row[0].startswith(NO_FLAG)]
)
def test_by_its_flag(key: str, value: Any, trace_file: Path, milepost: Milepost) -> None:
    ended = milepost("sweep", "--trace", trace_file, flag_of(key), value, "--dry-run")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith(f"error: {flag_of(key)}: ")


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_from_python(key: str, value: Any, trace_file: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Study({"workload.trace": str(trace_file), key: value}).plan()
    assert str(caught.value).startswith(f"settings: '{key}'")


NOT_OF = {"validate": ("--on-bad-line", "--session-rate")}  # it looks at all lines, not at times
OF_TRACES = [
    (command, key, value)
    for command in ("inspect", "validate", "convert")
    for key, value in REFUSED
    if key.startswith("workload.") and flag_of(key) not in NOT_OF.get(command, ())
    if key not in ("workload.seed", "workload.jitter")
]


@pytest.mark.parametrize(("command", "key", "value"), OF_TRACES)
def test_of_a_trace_command(
    command: str, key: str, value: Any, trace_file: Path, milepost: Milepost, tmp_path: Path
) -> None:
    flag = flag_of(key)
    out = ("--out", tmp_path / "x.jsonl") if command == "convert" else ()
    ended = milepost("trace", command, trace_file, flag, value, *out)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"error: {flag}: ")
    with pytest.raises(SettingError, match=f"^{key.partition('.')[2]}: "):
        open_trace(trace_file, **{key.partition(".")[2]: value})


def test_one_of_several_workloads(trace_file: Path, milepost: Milepost, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(f"[[grid.workload]]\ntrace = '{trace_file}'\nrows = 'conversation'\n")
    ended = milepost("sweep", study, "--dry-run")
    assert ended.code == 2
    assert ended.err.startswith(f"error: {study}: 'grid.workload': ")
