"""Checks before measuring: libraries, device, kernels, peak rates."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from calibration.clock import clock_for
from calibration.kernels import installed as _installed
from calibration.kernels import kernels
from simulator.base.errors import UsageError, printable
from simulator.base.installing import install_hint

# Older versions ignore a cached state when several tokens follow it.
OLDEST = {"torch": (2, 9), "transformers": (5, 17)}
_CEILING_REPETITIONS = 5
_COPY_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Machine:
    """A device as described in a profile; `memory` and `free` are in bytes."""

    device: str
    name: str
    memory: int
    free: int
    driver: str | None = None
    clocks: dict[str, str] | None = None

    @property
    def kind(self) -> str:
        """Kind of the device, "cpu" or "cuda"."""
        return self.device.partition(":")[0]


def check_libraries() -> None:
    """Raise UsageError if torch or transformers is missing, too old or broken."""
    hint = install_hint("calibration")
    for name, oldest in OLDEST.items():
        version = _installed(name)
        if version is None:
            raise UsageError(f"calibration needs {name}, which is not installed: {hint}")
        if _numbers(version) < oldest:
            needed = ".".join(map(str, oldest))
            reason = ""
            if name == "transformers":
                reason = ": older ones ignore a cached state when several tokens follow it"
            raise UsageError(f"{name} {version} is too old, {needed} or newer is needed{reason}")
        _check_import(name, version)


def _check_import(name: str, version: str) -> None:
    """Import a library; raise UsageError if it fails, as with missing shared libraries."""
    try:
        import_module(name)
    except (ImportError, OSError) as error:
        why = printable(" ".join(str(error).split()), 300)
        raise UsageError(f"{name} {version} is installed and cannot be imported: {why}") from None


def check_device(name: str) -> None:
    """Raise UsageError unless the device is "cpu", "cuda" or "cuda:N"."""
    if not re.fullmatch(r"cpu|cuda(:[0-9]{1,3})?", name):
        raise UsageError(f"device: expected cpu, cuda or cuda:0, found '{printable(name)}'")


def examine(device: str) -> Machine:
    """Return a description of the device.

    Raises
    ------
    UsageError
        If torch cannot use the device.
    """
    check_device(device)
    if device == "cpu":
        return Machine(device, _processor(), *_host_memory())
    import torch

    if not torch.cuda.is_available():
        raise UsageError(
            f"device '{device}': torch {torch.__version__} sees no CUDA device; --device cpu "
            "measures small models"
        )
    index = _index(device)
    if index >= torch.cuda.device_count():
        raise UsageError(f"device '{device}': there are {torch.cuda.device_count()} CUDA devices")
    torch.cuda.set_device(index)
    free, memory = torch.cuda.mem_get_info(index)
    driver, _ = _nvidia(_known_as(index))
    return Machine(device, torch.cuda.get_device_name(index), memory, free, driver)


def clocks(device: str) -> dict[str, str] | None:
    """Return the current clock rates of a GPU from nvidia-smi; nothing is changed."""
    return None if device == "cpu" else _nvidia(_known_as(_index(device)))[1]


def software(device_kind: str) -> dict[str, str]:
    """Return the profile's field `software`: versions, and kernels in use."""
    versions = {name: _installed(name) or "unknown" for name in OLDEST}
    return {**versions, "kernels": kernels(device_kind), "mode": "eager"}


def ceilings(device: str) -> dict[str, float]:
    """Measure the peak rates of the device: a square matrix product and a large copy.

    The product is in bf16 on a GPU and in fp32 on a CPU; a copy counts its bytes once.
    """
    import torch

    cuda = device.startswith("cuda")
    size, dtype = (8192, torch.bfloat16) if cuda else (512, torch.float32)
    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    source = torch.ones(_COPY_BYTES if cuda else _COPY_BYTES // 8, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    clock = clock_for(device)

    def best(action: Any) -> float:
        return min(clock.seconds(action) for _ in range(_CEILING_REPETITIONS))

    return {
        "gemm_tflops": 2 * size**3 / best(lambda: left @ right) / 1e12,
        "d2d_gbps": source.numel() / best(lambda: target.copy_(source)) / 1e9,
    }


def _numbers(text: str) -> tuple[int, ...]:
    """Return major and minor number of a version."""
    return tuple(int(part) for part in re.findall(r"[0-9]+", text)[:2])


def _processor() -> str:
    """Return the processor's name, if Linux provides it, and its number of cores."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    name = match[1].strip() if match else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count() or 1} cores"


def _host_memory() -> tuple[int, int]:
    """Return total and available bytes of host memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"^MemAvailable:\s*(\d+) kB$", text, re.MULTILINE)
    return memory, 1024 * int(match[1]) if match else memory // 2


def _index(device: str) -> int:
    """Return the index in a device name such as "cuda:1", 0 by default."""
    return int(device.partition(":")[2] or 0)


def _known_as(index: int) -> str:
    """Return the identifier for nvidia-smi, which ignores CUDA_VISIBLE_DEVICES."""
    import torch

    uuid = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    return str(index) if uuid is None else f"GPU-{uuid}"


def _nvidia(device: str) -> tuple[str | None, dict[str, str] | None]:
    """Return driver version and clock rates from nvidia-smi; nothing is changed."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None, None
    fields = ("driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem")
    command = [program, f"--id={device}", f"--query-gpu={','.join(fields)}"]
    try:
        completed = subprocess.run(
            [*command, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None, None
    driver, *clocks = (part.strip() for part in completed.stdout.splitlines()[0].split(","))
    return driver, dict(zip(fields[1:], clocks, strict=False))
