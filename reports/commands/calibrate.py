"""`milepost calibrate`: measure a model on this machine, and write its cost profile."""

from __future__ import annotations

from calibration.settings import TypedOptions
from reports.commands.declared import options
from reports.console import print_line


@options
class CalibrateCommand(TypedOptions):
    """Measure what prefills and copies of states cost here, prove that states are exact, fit.

    Needs torch and transformers: pip install -e '.[calibration]' in the clone of Milepost.
    """

    def run(self) -> None:
        """Measure the model and write its profile, or print the plan only."""
        from calibration.calibrate import calibrated

        for line in calibrated(self):
            print_line(line)
