"""Start times for sessions in files whose times are relative to each session's start."""

from __future__ import annotations

import numpy as np

from workloads.anomaly import Anomaly
from workloads.gaps import poisson_arrivals
from workloads.options import ReadOptions
from workloads.rows import Rows


def lay_out(rows: Rows, options: ReadOptions) -> None:
    """Spread the starts of sessions according to the options, and note it.

    With a `session_rate`, sessions start as a Poisson process, in the order of the file, the first
    at 0. Without one they all start at 0, which is unrealistic and noted.
    """
    rows.laid_out = True
    sessions = np.frombuffer(rows.session, dtype=np.int32)
    count = len(np.unique(sessions))
    if options.session_rate is None:
        if count > 1:
            detail = "sessions start together at time 0: --session-rate spreads their starts"
            rows.oddities["sessions-at-once"] = Anomaly(
                "sessions-at-once", count, rows.line[0], detail
            )
        return
    seed = options.seed or 0
    starts = poisson_arrivals(int(sessions.max(initial=0)) + 1, options.session_rate, seed)
    rows.time_ticks.shift(starts[sessions])
    rate = f"{options.session_rate:g} a second (Poisson, seed {seed})"
    rows.facts.append(f"the file tells no starts of sessions: {count:,} are spread, {rate}")
