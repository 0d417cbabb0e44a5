from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reports.artifacts.journal import CellOutcome
from reports.cli import main
from reports.execution.executors import run_tasks
from simulator.base.errors import UsageError
from tests.reports.capacity.examples import toml
from tests.reports.execution.conftest import Whole
from tests.reports.execution.sweeps import entries, results
from tests.reports.worker_tasks import Job, work

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # it and tornado warn of their own matters


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a scheduler with two worker processes, which are replaced when they die."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as running:
        yield running


def worker_ids(cluster: Any) -> list[int]:
    with distributed.Client(cluster.scheduler_address) as client:
        return sorted(client.run(os.getpid).values())


@pytest.mark.usefixtures("no_page")
def test_the_results_are_those_of_this_machine(cluster: Any, whole: Whole, tmp_path: Path) -> None:
    flags = ["--out", str(tmp_path / "out"), "--cluster", cluster.scheduler_address, "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(whole.study), *flags])
    assert ended.value.code == 0
    assert results(tmp_path / "out") == whole.tables


@pytest.mark.usefixtures("no_page")
def test_a_worker_that_is_killed_changes_nothing(
    cluster: Any, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victims = worker_ids(cluster)[:1]
    out = tmp_path / "out"

    def update(_: object, done: int, cells: int) -> None:
        assert done == len(entries(out))
        if done > cells // 4 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    monkeypatch.setattr("reports.console.Progress.update", update)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(whole.study), "--out", str(out), "--cluster", cluster.scheduler_address])
    assert ended.value.code == 0
    assert not victims
    assert results(out) == whole.tables


def test_a_search_for_capacity_ends_as_on_this_machine(
    cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = toml(tmp_path, [20, 40, 76])
    asked = [str(study), "--target", "token_hit_rate>=20%", "--no-sensitivity", "-q"]
    places = {"here": ["--jobs", "1"], "there": ["--cluster", cluster.scheduler_address]}
    for out, flags in places.items():
        with pytest.raises(SystemExit) as ended:
            main(["capacity", *asked, "--out", str(tmp_path / out), *flags])
        assert ended.value.code == 0
    for name in ("capacity.json", "capacity.html"):
        here, there = ((tmp_path / out / name).read_bytes() for out in places)
        assert here == there
    assert capsys.readouterr().err.count("page: ") == 2


def test_a_drift_study_ends_as_on_this_machine(cluster: Any, tmp_path: Path) -> None:
    placers = "grid.policy.placer=['optimal:budget=2,train=200','optimal:budget=2,window=50']"
    asked = ["--generator", "system_prompts:count=6", "--requests", "700", "--set", placers, "-q"]
    places = {"here": ["--jobs", "1"], "there": ["--cluster", cluster.scheduler_address]}
    for out, flags in places.items():
        with pytest.raises(SystemExit) as ended:
            main(["drift", *asked, "--out", str(tmp_path / out), *flags])
        assert ended.value.code == 0
    for name in ("series.json", "drift.json", "report.html"):
        here, there = ((tmp_path / out / name).read_bytes() for out in places)
        assert here == there


def test_a_failing_task_leaves_the_others_alone(cluster: Any) -> None:
    jobs = [Job("0"), Job("1", "raise"), Job("2", "refuse"), Job("3")]
    outcomes = {o.cell: o for o in run_tasks(work, jobs, 1, cluster.scheduler_address)}
    assert outcomes.pop("1") == CellOutcome("1", None, "ZeroDivisionError: bad\\nluck")
    assert outcomes.pop("2") == CellOutcome("2", None, "no such thing")
    assert outcomes == {n: CellOutcome(n, {"square": int(n) ** 2}) for n in ("0", "3")}


def test_other_versions_are_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.execution.cluster.version", lambda: "0.0.7")
    with pytest.raises(UsageError, match=r"has milepost .*, expected 0\.0\.7 as here"):
        list(run_tasks(work, [Job("0")], 1, cluster.scheduler_address))


def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.execution.cluster.WAIT_SECONDS", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(UsageError, match="the scheduler has no workers"),
    ):
        list(run_tasks(work, [Job("0")], 1, empty.scheduler_address))


@pytest.mark.parametrize("address", ["10.0.0.1:8786", "http://a:1", "tcp://a", "tcp://a:x", ""])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(UsageError, match=r"expected an address such as tcp://10\.0\.0\.1:8786"):
        list(run_tasks(work, [Job("0")], 1, address))


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(UsageError, match=f"--cluster tcp://127.0.0.1:{port}: Connection refused"):
        list(run_tasks(work, [Job("0")], 1, f"tcp://127.0.0.1:{port}"))


def test_jobs_beside_a_cluster_are_refused(
    whole: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--out", str(tmp_path / "out"), "--cluster", "tcp://a:1", "--jobs", "2"]
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(whole.study), *flags])
    message = capsys.readouterr().err
    assert (ended.value.code, message.count("\n")) == (2, 1)
    assert "contradicts --cluster" in message
