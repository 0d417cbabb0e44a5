from __future__ import annotations

from reports.study.lines import lines_of

TEXT = """\
title = "x"   # a comment
cache.capacity = "8 GiB"

[workload]
requests = 50
'drift'= 0.5

[ study ] # more
replications = 2
warmup = 0.1

[grid]
"policy.placer" = [
    "optimal:budget=8",
    "nope",
]
policy.eviction = ["lru"]

[[grid.workload]]
builtin = true
"""


def test_keys_are_found_however_they_are_written() -> None:
    assert lines_of(TEXT) == {
        "title": 1,
        "cache.capacity": 2,
        "workload": 4,
        "workload.requests": 5,
        "workload.drift": 6,
        "study": 8,
        "study.replications": 9,
        "study.warmup": 10,
        "grid": 12,
        "grid.policy.placer": 13,
        "grid.policy.eviction": 17,
        "grid.workload": 19,
        "grid.workload.builtin": 20,
    }
