"""The site is built without a warning, and asks for nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.fences import documents

LINK = re.compile(r"\]\(((?!https?:)[^()\s#]+)(?:#[^()\s]*)?\)")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build a site strictly, as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", site]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site; every link and anchor of it was checked."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr
    return folder


class _Loaded(HTMLParser):
    """The addresses that a page loads when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attributes if (tag, name) in LOADED]


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = _Loaded()
        loaded.feed(page.read_text(encoding="utf-8"))
        assert loaded.addresses
        assert not [each for each in loaded.addresses if re.match(r"(https?:)?//", each)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_pages_are_made_of_the_code_and_of_the_repository(site: Path) -> None:
    policies = (site / "reference" / "policies.html").read_text(encoding="utf-8")
    assert 'id="placer-adaptive"' in policies
    commands = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert 'id="milepost-trace-inspect"' in commands
    assert 'id="demo-toml"' in (site / "reference" / "studies.html").read_text(encoding="utf-8")


def test_links_lead_to_files_of_the_repository() -> None:
    """The pages are read without the site, too, where those made from the code are not there."""
    for document in [*documents(), ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]:
        for link in LINK.findall(document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


@pytest.mark.parametrize("link", ["nowhere.md", "other.md#nowhere", "../nowhere.toml", "#nowhere"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# One\n\n[a link]({link})\n")
    (docs / "other.md").write_text("# Other\n")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = config[: config.index("\nnav:")]
    config = re.sub(r"hooks:\n(  - .*\n)+", "", config)
    (tmp_path / "mkdocs.yml").write_text(config)
    built = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert built.returncode == 1
    assert "nowhere" in built.stderr
