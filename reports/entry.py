"""The console script `milepost`: ready for Ctrl-C before the command line is imported."""

from __future__ import annotations

from reports.interrupts import install


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    install()
    from reports.cli import main as command_line

    command_line()
