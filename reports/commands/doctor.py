"""`milepost doctor`: versions, optional parts, what this machine offers."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from importlib.util import find_spec

from reports.commands.declared import options
from reports.commands.options import JsonOption
from reports.console import print_json, print_table
from reports.version import version
from simulator.base.compiled import STATE

NEEDED = (
    "altair",
    "jinja2",
    "msgspec",
    "numpy",
    "polars",
    "pydantic",
    "rich",
    "scipy",
    "simpy",
    "typer",
    "vl-convert-python",
)
OPTIONAL = {"torch": "calibration", "transformers": "calibration", "dask": "clusters"}


@options
class DoctorCommand(JsonOption):
    """Show what is installed, what is missing and what this machine offers."""

    def run(self) -> None:
        """Print the findings."""
        findings = examine()
        if self.json:
            print_json(findings)
        else:
            print_table(("", ""), [(name, str(value)) for name, value in findings.items()])


def examine() -> dict[str, str | int]:
    """Return findings by name."""
    needed = {name: _installed(name) or "MISSING" for name in NEEDED}
    optional = {name: _optional(name, use) for name, use in OPTIONAL.items()}
    return {
        "milepost": version(),
        "python": platform.python_version(),
        "simulator": STATE,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        **needed,
        **optional,
        "GPU": "nvidia-smi found" if shutil.which("nvidia-smi") else "none found",
        "temporary folder": _writable(tempfile.gettempdir()),
        "working folder": _writable("."),
    }


def _installed(name: str) -> str | None:
    try:
        return installed(name)
    except PackageNotFoundError:
        return None


def _optional(name: str, use: str) -> str:
    if find_spec(name) is None:
        return f"not installed (only {use} needs it)"
    return _installed(name) or "installed"


def _writable(folder: str) -> str:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return "writable"
    except OSError as error:
        return f"not writable: {error.strerror or error}"
