from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.reports.execution.sweeps import NO_PAGE, STUDY, TABLES, finish


@dataclass(frozen=True)
class Whole:
    """A sweep that ran in one piece, in one process."""

    study: Path
    results: dict[str, bytes]

    @property
    def tables(self) -> dict[str, bytes]:
        """The results without the page."""
        return {name: self.results[name] for name in TABLES}


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    study = folder / "study.toml"
    study.write_text(STUDY)
    return Whole(study, finish(study, folder / "out", "--jobs", "1"))


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the page, which takes longer than everything else."""
    monkeypatch.setattr("reports.report.store.render", lambda _: NO_PAGE)
