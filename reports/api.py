"""Studies from Python: what `milepost sweep` and `milepost report` do, as two classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.study.layers import laid_over, read_settings
from reports.study.settings import Settings, flatten

if TYPE_CHECKING:
    import polars as pl

    from reports.study.sections import ResolvedStudy as StudyFile

_REPEAT = "milepost sweep study.resolved.toml --out DIR"
_ORIGIN = "settings"


class Study:
    """A grid of simulations with its replications, read from a file or built in Python.

    Parameters
    ----------
    settings
        Settings as in a study file: nested tables, or dotted keys such as "cache.capacity".

    Raises
    ------
    UsageError
        For an unknown setting ("did you mean"), or a value that is not what its key expects.

    Examples
    --------
    >>> study = Study({"workload": {"requests": 200}, "policy.placer": "branch"})
    >>> study.settings["policy"]["placer"]
    'branch'
    """

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self._settings = read_settings(None, _overrides(settings))
        self._parsed = _parsed(self._settings)

    @classmethod
    def read(cls, path: str | Path, settings: Mapping[str, Any] | None = None) -> Study:
        """Return the study in a file, with further settings over it.

        Paths in the file are relative to it, those in `settings` to the working directory.

        Raises
        ------
        UsageError
            When the file cannot be read or is not TOML, and as above.
        """
        return cls._of(read_settings(Path(path), _overrides(settings)))

    def with_settings(self, settings: Mapping[str, Any]) -> Study:
        """Return the same study with some settings replaced; this one stays as it is."""
        return self._of(laid_over(self._settings, _overrides(settings)))

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting as tables of plain values, defaults included."""
        return self._parsed.resolved()

    @property
    def notes(self) -> list[str]:
        """Notes on settings that are ignored because a trace replaces the study's workload."""
        return list(self._settings.notes)

    def plan(self, jobs: int = 1) -> dict[str, Any]:
        """Return cells, requests, minutes and disk that `run` would take; nothing is simulated.

        Raises
        ------
        UsageError, DataError
            As `run` would.
        """
        from reports.execution.estimate import estimate

        with self._settings.naming():
            return estimate(self._settings, jobs)

    def run(
        self,
        folder: str | Path,
        jobs: int = 1,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Results:
        """Simulate the cells that `folder` does not hold yet; write tables, manifest and page.

        Parameters
        ----------
        folder
            Where results go. A run that was stopped goes on from there.
        jobs
            Processes. With more than one they are spawned, so that a script must call this below
            `if __name__ == "__main__":`. Results do not depend on it.
        on_progress
            Called with (cells done, cells) before the first cell and after each.

        Raises
        ------
        UsageError, DataError
            When the study, its trace or the folder is at fault. A cell that fails does not raise:
            see `Results.failed`.
        """
        from reports.execution.sweep import sweep

        with self._settings.naming():
            sweep(self._settings, Path(folder), jobs, _REPEAT, on_progress)
        results = Results(Path(folder))
        results.write_page()
        return results

    @classmethod
    def _of(cls, settings: Settings) -> Study:
        study = cls.__new__(cls)
        study._settings = settings
        study._parsed = _parsed(settings)
        return study


@dataclass(frozen=True)
class Results:
    """Results of a study in a folder, read on first use.

    Parameters
    ----------
    folder
        A folder written by `Study.run` or `milepost sweep`.
    """

    folder: Path

    @property
    def cells(self) -> pl.DataFrame:
        """One row a cell: its settings, its metrics, and lists over blocks of time.

        Raises UsageError where there is no finished study, DataError where it is damaged.
        """
        return self._stored[0]

    @property
    def manifest(self) -> dict[str, Any]:
        """The settings, the facts of trace and profile, and the versions."""
        return self._stored[1]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The cells without metrics: `cell`, `placer`, `error`."""
        return list(self.manifest["failed"])

    def write_page(self) -> Path:
        """Write `report.html` again and return its path."""
        from reports.pages.study import study_report
        from reports.report.store import store

        return store(study_report(self.cells, self.manifest), self.folder)

    @cached_property
    def _stored(self) -> tuple[pl.DataFrame, dict[str, Any]]:
        from reports.artifacts.writing import read_artifacts

        return read_artifacts(Path(self.folder))


def _overrides(settings: Mapping[str, Any] | None) -> list[tuple[str, Any, str]]:
    return [(key, value, _ORIGIN) for key, value in flatten(settings or {})]


def _parsed(settings: Settings) -> StudyFile:
    from reports.study.file import parse_study

    return parse_study(settings)
