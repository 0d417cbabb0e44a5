"""Installation hints for optional dependencies; Milepost is installed from a clone."""

from __future__ import annotations

from pathlib import Path


def install_hint(extra: str) -> str:
    """Return the command that installs an optional dependency group, and where to run it."""
    clone = Path(__file__).resolve().parents[2]
    where = f"the clone, {clone}" if (clone / "pyproject.toml").is_file() else "a clone of Milepost"
    return f"pip install -e '.[{extra}]' in {where}"
