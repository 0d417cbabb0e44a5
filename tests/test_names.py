"""Names: each public class has one of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = "simulator", "policies", "workloads", "calibration", "reports", "studies", "benchmarks"


def test_no_name_of_a_public_class_means_two_things():
    places = defaultdict(list)
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
