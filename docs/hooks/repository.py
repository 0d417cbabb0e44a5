"""Pages of the site that are files of the repository outside `docs`, and the links between them.

The same Markdown is read in the repository and on the site: links are relative paths of the
repository, and are turned here into those of the site. A link to what is not there stays as it is,
so that the strict build fails on it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # of the site -> file of the repository
    "index.md": "README.md",
    "project/architecture.md": "ARCHITECTURE.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/changelog.md": "CHANGELOG.md",
    "project/benchmarks.md": "benchmarks/README.md",
    "project/paper.md": "studies/paper/README.md",
}
STUDIES = "reference/studies.md"
SHOWN = (
    "studies/*.toml",
    "studies/evictions/*.toml",
    "studies/paper/*.toml",
    "studies/*_interface.py",
)
LINK = re.compile(r"(?<=\]\()([^()\s#]+)(#[^()\s]*)?(?=\))")
FENCE = re.compile(r"^ *```", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for page, path in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, STUDIES, content=_studies()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages, but for code."""
    here = page.file.src_uri
    parts = FENCE.split(markdown)
    parts[::2] = [
        LINK.sub(lambda link: _on_site(link[1], link[2] or "", here), part) for part in parts[::2]
    ]
    return "```".join(parts)


def _on_site(target: str, anchor: str, here: str) -> str:
    """Return the link from the page `here` for a link of the file that it is made of."""
    if ":" in target:
        return target + anchor
    path = posixpath.normpath(posixpath.join(posixpath.dirname(_source(here)), target))
    page = next((page for page, source in PAGES.items() if source == path), None)
    if path.startswith("docs/"):
        page = path.removeprefix("docs/")
    elif path in _shown():
        page, anchor = STUDIES, f"#{_anchor(path)}"
    elif path == "studies":
        page = STUDIES
    if page is None:
        return target + anchor
    return posixpath.relpath(page, posixpath.dirname(here) or ".") + anchor


def _source(page: str) -> str:
    """Return the file of the repository that a page is made of."""
    return "studies" if page == STUDIES else PAGES.get(page, f"docs/{page}")


def _shown() -> list[str]:
    """Return the studies that the site shows."""
    return [path.relative_to(ROOT).as_posix() for glob in SHOWN for path in sorted(ROOT.glob(glob))]


def _anchor(path: str) -> str:
    return re.sub(r"[^a-z]+", "-", path.removeprefix("studies/"))


def _studies() -> str:
    """Return a page with the text of all studies."""
    parts = [
        "# The studies of the repository\n",
        "Each runs as it stands, from the root of the clone; its header says what it asks, what it",
        "showed, and how to put a trace of your own in.\n",
    ]
    for path in _shown():
        language = {".toml": "toml", ".py": "python"}[Path(path).suffix]
        text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
        parts += [f"## `{path}` {{ #{_anchor(path)} }}\n", f"```{language}\n{text}\n```\n"]
    return "\n".join(parts)
