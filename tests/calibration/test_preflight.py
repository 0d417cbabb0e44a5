from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from calibration import preflight
from simulator.base.errors import UsageError

NEW = {"torch": "2.13.0+cpu", "transformers": "5.24.0"}


def pretend(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    monkeypatch.setattr(preflight, "_installed", {**NEW, **versions}.get)


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("torch", None, "calibration needs torch, which is not installed: pip install"),
        ("transformers", None, "calibration needs transformers, which is not installed"),
        ("torch", "2.8.0", "torch 2.8.0 is too old, 2.9 or newer is needed"),
        ("transformers", "5.16.2", "older ones ignore a cached state when several tokens follow"),
        ("transformers", "4.57.0", "transformers 4.57.0 is too old, 5.17 or newer"),
    ],
)
def test_what_is_missing_or_too_old_is_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, version: str | None, message: str
) -> None:
    pretend(monkeypatch, **{name: version})
    with pytest.raises(UsageError, match=message) as caught:
        preflight.check_libraries()
    assert "\n" not in str(caught.value)


def test_a_library_that_cannot_be_imported_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)

    def refuse(name: str) -> None:
        raise OSError("libcudart.so.13: cannot open\nshared object file")

    monkeypatch.setattr(preflight, "import_module", refuse)
    with pytest.raises(UsageError, match=r"torch .* is installed and cannot be imported") as caught:
        preflight.check_libraries()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", ["5.17.0", "5.24.0", "5.100", "6.0.dev0"])
def test_new_enough_versions_pass(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    pretend(monkeypatch, transformers=version)
    preflight.check_libraries()


def test_the_cpu_is_described() -> None:
    machine = preflight.examine("cpu")
    assert machine.kind == "cpu"
    assert "cores" in machine.name
    assert 0 < machine.free <= machine.memory


def test_devices_that_are_not_there_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match=r"device 'cuda': torch .+ sees no CUDA device"):
        preflight.examine("cuda")
    for name in ("gpu", "cuda:", "cuda:x", "", "cuda\n"):
        with pytest.raises(UsageError, match="device: expected cpu, cuda or cuda:0"):
            preflight.examine(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UsageError, match="device 'cuda:2': there are 2 CUDA devices"):
        preflight.examine("cuda:2")


def test_driver_and_clocks_are_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        asked.append(command)
        return SimpleNamespace(stdout="570.1, 345 MHz, 2619 MHz, 1980 MHz, 3201 MHz\n")

    monkeypatch.setattr(preflight.shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(subprocess, "run", run)
    driver, clocks = preflight._nvidia("0")
    assert driver == "570.1"
    assert clocks == {
        "clocks.sm": "345 MHz",
        "clocks.mem": "2619 MHz",
        "clocks.max.sm": "1980 MHz",
        "clocks.max.mem": "3201 MHz",
    }
    assert all(
        "--query-gpu" in part or part.startswith(("/", "--id", "--format")) for part in asked[0]
    )


def test_nvidia_smi_is_asked_by_a_name_that_no_mask_of_devices_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = pytest.importorskip("torch")
    properties = SimpleNamespace(uuid="12ab-34")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    assert preflight._known_as(0) == "GPU-12ab-34"
    asked: list[str] = []
    monkeypatch.setattr(preflight, "_nvidia", lambda name: (asked.append(name), {"sm": "1 MHz"}))
    assert preflight.clocks("cuda:0") == {"sm": "1 MHz"}
    assert asked == ["GPU-12ab-34"]
    assert preflight.clocks("cpu") is None
    del properties.uuid
    assert preflight._known_as(1) == "1"


def test_no_nvidia_smi_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight.shutil, "which", lambda _: None)
    assert preflight._nvidia("0") == (None, None)
    monkeypatch.setattr(preflight.shutil, "which", lambda _: str(tmp_path / "absent"))
    assert preflight._nvidia("0") == (None, None)


def test_ceilings_are_positive() -> None:
    pytest.importorskip("torch")
    ceilings = preflight.ceilings("cpu")
    assert set(ceilings) == {"gemm_tflops", "d2d_gbps"}
    assert min(ceilings.values()) > 0
