"""Numbers of replications for studies that continue until their intervals are narrow.

Each round has half as many again as the last one, the same for every scenario, so that the set in
the end follows from the outcomes alone, not from who computed what when. To stop when an interval
happens to be narrow makes it cover less than it says, most of all after few replications: with ten
in the first round a nominal 95 % interval covers 93 to 95 % (the tests measure it).
"""

from __future__ import annotations

import math

from reports.study.sections import ResolvedStudy

FIRST_REPLICATIONS = 10
MOST_REPLICATIONS = 100
GROWTH = 1.5


def most_replications(study: ResolvedStudy) -> int:
    """Return the most replications that a study may have."""
    asked = study.study.replications
    if study.study.until_ci is None:
        return asked
    return study.study.max_replications or max(asked, MOST_REPLICATIONS)


def first_round(study: ResolvedStudy) -> int:
    """Return how many replications the first round has, which is all unless there is `until_ci`."""
    asked = study.study.replications
    if study.study.until_ci is None:
        return asked
    return min(max(asked, FIRST_REPLICATIONS), most_replications(study))


def next_round(study: ResolvedStudy, replications: int) -> int:
    """Return how many replications the round after one of `replications` has in all."""
    return min(math.ceil(GROWTH * replications), most_replications(study))
