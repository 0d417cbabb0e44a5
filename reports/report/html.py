"""A report as one HTML file that loads nothing else: scripts with hashes, escaped data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reports.charts.lint import checked
from reports.charts.theme import CONFIG
from reports.report.json_text import as_text
from reports.report.packing import packed
from reports.report.value import ChosenPolicy, Code, Report, Strong, coded
from simulator.base.files import escaped

SCRIPTS = ("charts", "table", "light", "range", "save")  # each after those it uses

# Escaped so that no string ends the element; the last two end a line in old JavaScript.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}

_TYPESET = (
    (re.compile(r"(?<![^\s(\[])-(?=\d)"), "\N{MINUS SIGN}"),
    (re.compile(r"\bB - A\b"), "B \N{MINUS SIGN} A"),
    (re.compile(r"(?<=\d)%"), "\N{NO-BREAK SPACE}%"),
    (re.compile(r"(?<=\d )us\b"), "\N{MICRO SIGN}s"),
    (re.compile(r"(?<![^\s(])x (?=\d)"), "\N{MULTIPLICATION SIGN} "),
    (re.compile(r"(?<!\S)<=(?!\S)"), "\N{LESS-THAN OR EQUAL TO}"),
    (re.compile(r"(?<!\S)>=(?!\S)"), "\N{GREATER-THAN OR EQUAL TO}"),
    (re.compile(r"(?<!\S)->(?!\S)"), "\N{RIGHTWARDS ARROW}"),
)


def render(report: Report) -> str:
    """Return the page of a report as HTML; the same report gives the same bytes.

    Raises
    ------
    ValueError
        For a chart that does not fit its data, or one with a number that is not finite.
    """
    scripts, style = [javascript(), own_script()], read_template("page.css")
    specifications = {p.id: bare(p.chart, schema=p.schema) for p in report.panels}
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            policy=content_security_policy(scripts, style),
            scripts=scripts,
            style=style,
            specifications=data_block(packed(specifications)),
            json_text=as_text(report) if report.data_title else "",
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "coded": coded,
        "typeset": typeset,
        "pieces": lambda text: (text,) if isinstance(text, str) else text,
        "kind": lambda block: type(block).__name__,
    }
    kinds = {"code": Code, "strong": Strong, "chosen": ChosenPolicy}
    environment.tests |= {
        name: lambda piece, kind=kind: isinstance(piece, kind) for name, kind in kinds.items()
    }
    return environment


def bare(chart: Any, *, schema: bool = True) -> dict[str, Any]:
    """Return the specification of a chart without what the page provides: title, background, width.

    Legends stay; the page removes them when it draws a chart, and an image keeps them.

    `schema` is as in `checked`.

    Raises
    ------
    ValueError
        For a chart that does not fit its data.
    """
    spec = checked(chart, schema=schema)
    spec.pop("title", None)
    spec["width"] = "container"
    spec["config"] = {**CONFIG, "background": None}
    return spec


@lru_cache(maxsize=1)
def javascript() -> Markup:
    """Return Vega, Vega-Lite and Vega-Embed, with Vega's expression interpreter, as one script."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return Markup(bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


@lru_cache(maxsize=1)
def own_script() -> Markup:
    """Return the script that draws the charts of a page and handles its controls."""
    parts = "\n".join(read_template(f"script/{name}.js") for name in SCRIPTS)
    return Markup(f'"use strict";\n(() => {{\n{parts}}})();\n')


def read_template(name: str) -> Markup:
    """Return the text of a file in the folder of templates."""
    return Markup((files("reports") / "templates" / name).read_text(encoding="utf-8"))


def data_block(value: Any) -> Markup:
    """Return JSON for `<script type="application/json">`, safe whatever strings it holds.

    Raises
    ------
    ValueError
        For NaN and infinity, which JSON cannot express.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, written in _ESCAPES.items():
        text = text.replace(character, written)
    return Markup(text)


def typeset(text: str) -> str:
    """Return a text with typographic signs in place of ASCII: "≤ 20 µs", "3.5 %"."""
    for pattern, written in _TYPESET:
        text = pattern.sub(written, text)
    return text


def content_security_policy(scripts: Sequence[str], style: str) -> str:
    """Return a content security policy that allows these scripts and this style only."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(escaped(text).encode()).digest()).decode()
    return f"'sha256-{digest}'"
