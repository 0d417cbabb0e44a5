"""The folder of a prototype's run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibration.prototype.served import write_run
from reports.files import make_folder
from simulator.base.files import write_text
from simulator.costs.profile import profile_to_json

if TYPE_CHECKING:
    from calibration.prototype.served import PrototypeRun
    from simulator.costs.profile import Profile

RUN_FILE, PROFILE_FILE = "prototype.json", "profile.json"


def write_measured(folder: Path, run: PrototypeRun, profile: Profile) -> None:
    """Write a run and the profile that priced it.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    make_folder(folder)
    write_run(folder / RUN_FILE, run)
    write_text(folder / PROFILE_FILE, profile_to_json(profile))
