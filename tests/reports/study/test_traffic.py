"""What a study file says of generators, drifts and arrivals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reports.study.cells import expand
from reports.study.file import parse_study
from reports.study.layers import parse_override, read_settings
from reports.study.sections import ResolvedStudy
from reports.study.settings import to_toml
from reports.study.traces import load_trace, rate_note, trace_key, with_times
from reports.study.traffic import traffic_of
from simulator.base.errors import UsageError
from workloads.arrivals import Poisson, read_process
from workloads.drift import Drift, read_drift
from workloads.synthetic import Chats, SyntheticSpec, generate, read_generator


def study_of(text: str, folder: Path, *overrides: str) -> ResolvedStudy:
    path = folder / "study.toml"
    path.write_text(text)
    return parse_study(read_settings(path, map(parse_override, overrides)))


def same(one, other) -> bool:
    pairs = ((one.tree.stop, other.tree.stop), (one.leaf, other.leaf))
    times = (one.arrival_seconds, other.arrival_seconds)
    return all(np.array_equal(a, b) for a, b in (*pairs, times))


NAMED = """
[workload]
generator = "chats:turns_mean=3"
drift = "shift:distance=0.2,at=0.5"
requests = 300
[arrivals]
process = "gamma:cv=3"
rate = 2.0
"""
TABLE = """
[workload]
requests = 200
[workload.generator]
"documents:count=20,zipf_exponent=1.1" = 0.7
"agents:steps_mean=5" = 3
"""


def test_a_study_names_its_traffic(tmp_path: Path) -> None:
    study = study_of(NAMED, tmp_path)
    trace = load_trace(study, 4)
    expected = Chats(turns_mean=3.0).trace(
        300, 4, read_process("gamma:rate=2,cv=3"), read_drift("shift:distance=0.2,at=0.5")
    )
    assert same(trace, expected)
    assert trace.notes[-1] == (
        "generated: generator chats:turns_mean=3.0, drift shift:distance=0.2,at=0.5, "
        "arrivals gamma:rate=2.0,cv=3.0, seed 4"
    )
    assert with_times(trace, study, 4) is trace


def test_a_table_is_a_mixture(tmp_path: Path) -> None:
    study = study_of(TABLE, tmp_path)
    assert study.workload.generator == (
        "0.7 documents:count=20,zipf_exponent=1.1 + 3 agents:steps_mean=5"
    )
    text = "0.7 documents:count=20,zipf_exponent=1.1 + 3 agents:steps_mean=5"
    expected = read_generator(text).trace(200, 1, Poisson(5.0), Drift())
    assert same(load_trace(study, 1), expected)
    again = study_of(to_toml(study.resolved()), tmp_path)
    assert again == study


def test_without_a_name_it_is_the_built_in_workload(tmp_path: Path) -> None:
    plain = study_of("[workload]\nrequests = 200\ndocuments = 4\n", tmp_path)
    spec = SyntheticSpec(requests=200, documents=4, seed=6)
    assert same(load_trace(plain, 6), generate(spec))
    assert load_trace(plain, 6).notes == ()
    rated = study_of("[workload]\nrequests = 200\n[arrivals]\nrate = 2.5\n", tmp_path)
    assert same(load_trace(rated, 0), generate(SyntheticSpec(requests=200, rate_per_second=2.5)))
    bursty = study_of(
        "[arrivals]\nprocess = 'gamma:cv=4,rate=5'\n[workload]\nrequests = 200\n", tmp_path
    )
    assert same(load_trace(bursty, 0), traffic_of(bursty).trace(0))
    named = study_of("[workload]\ngenerator = 'builtin:documents=4'\nrequests = 200\n", tmp_path)
    assert same(load_trace(named, 6), generate(spec))


def test_the_grid_varies_generators_and_processes(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        """
[workload]
requests = 100
drift = "births:times=1"
[grid]
"workload.generator" = ["chats", "chats:turns_mean=6.0", "0.5 documents + 0.5 agents"]
"arrivals.process" = ["poisson", "gamma:cv=3"]
"""
    )
    with pytest.raises(UsageError, match="the grid holds the same cell twice"):
        expand(read_settings(path))
    path.write_text(path.read_text().replace('"chats", ', ""))
    _, cells = expand(read_settings(path))
    assert len({cell.trace for cell in cells}) == 4


def test_the_key_of_a_trace_follows_what_it_is_made_of(tmp_path: Path) -> None:
    trace = tmp_path / "times.jsonl"
    row = '{"timestamp": %d, "input_length": 5, "output_length": 1, "hash_ids": [1]}'
    trace.write_text("\n".join(row % at for at in (0, 1000, 3000)))
    text = f"[workload]\ngenerator = 'chats'\n[arrivals]\nprocess = 'trace:path={trace.name}'\n"
    study = study_of(text, tmp_path)
    assert study.arrivals.process == f"trace:path={trace}"  # relative to the study file
    before = trace_key(study, 0)
    assert before == trace_key(study, 0) != trace_key(study, 1)
    trace.write_text(trace.read_text().replace("3000", "4000"))
    assert trace_key(study, 0) != before


def test_arrivals_of_a_trace_file(tmp_path: Path) -> None:
    rows = [{"input_length": 5, "output_length": 1, "hash_ids": [i]} for i in range(3)]
    (tmp_path / "untimed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for row, time in zip(rows, (0, 1000, 4000), strict=True):
        row["timestamp"] = time
    (tmp_path / "timed.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def timed(name: str, arrivals: str):
        study = study_of(f"[workload]\ntrace = '{name}.jsonl'\n[arrivals]\n{arrivals}\n", tmp_path)
        trace = load_trace(study, 2)
        has_arrivals = trace.arrival_seconds is not None
        return with_times(trace, study, 2), rate_note(study, has_arrivals=has_arrivals)

    trace, notes = timed("untimed", "process = 'weibull:cv=3'\nrate = 4.0")
    expected = read_process("weibull:rate=4,cv=3").times(3, 2)
    assert np.array_equal(trace.arrival_seconds, expected)
    assert notes == ["the trace has no arrival times: arrivals by weibull:cv=3 at 4 requests/s"]

    trace, notes = timed("timed", "process = 'trace:rate=1'")
    assert np.allclose(trace.arrival_seconds, [0, 0.5, 2.0])
    assert notes == ["the trace's own times are stretched: arrivals by trace:rate=1"]
    assert timed("timed", "")[1] == []
    for arrivals in ("rate = 2.0", "process = 'poisson'"):
        with pytest.raises(UsageError, match="contradicts the trace 'timed', which has"):
            timed("timed", arrivals)
    with pytest.raises(UsageError, match="expected a path, since the requests have no times"):
        timed("untimed", "process = 'trace'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("generator = 'chatz'", "'workload.generator': generator 'chatz': unknown name"),
        ("generator = 3", "'workload.generator': expected a valid string, found 3"),
        ("generator = 'chats'\ndrift = 0.5", "'workload.drift': expected text as in shift"),
        ("generator = 'chats'\ndrift = 'shifty'", "'workload.drift': drift 'shifty': unknown name"),
        ("generator = 'chats'\ndocuments = 5", "contradicts workload.documents (it is a knob"),
        ("generator = 'chats'\nrequests = 0", "'workload.requests': expected an integer from 1"),
        ("generator = 'chats'\nbuiltin = true", "contradicts workload.builtin = true"),
        ("generator = 'chats'\ntrace = 'a'", "'workload.trace' contradicts workload.generator"),
        ("generators = 'chats'", "unknown key 'workload.generators'; did you mean"),
        ("[workload.generator]\nchats = 'x'", "[workload.generator] 'chats': expected a share"),
        ("[workload.generator]\nchatz = 1", "generator 'chatz': unknown name"),
        ("[workload.generator]\nchats = 0", "share of 'chats': expected above 0"),
        ("[arrivals]\nprocess = 'gama'", "'arrivals.process': arrivals 'gama': unknown name"),
        ("[arrivals]\nproces = 'gamma'", "unknown key 'arrivals.proces'; did you mean"),
        ("drift = 'shift'", "'workload.drift': expected a number from 0.0 to 1.0"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        study_of(f"[workload]\n{text}\n", tmp_path)
    assert message in str(error.value)
    assert "study.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_beside_a_name_is_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--set: .* contradicts the table \[workload.generator\]"):
        study_of(TABLE, tmp_path, "workload.generator=chats")


def test_two_rates_are_a_contradiction(tmp_path: Path) -> None:
    study = study_of("[arrivals]\nprocess = 'gamma:rate=2'\nrate = 3.0\n", tmp_path)
    with pytest.raises(UsageError, match="contradicts the rate in 'gamma:rate=2'"):
        load_trace(study, 0)
