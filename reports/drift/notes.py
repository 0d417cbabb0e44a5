"""What a reader of a drift study should weigh."""

from __future__ import annotations

from reports.drift.study import DriftStudy


def notes(study: DriftStudy) -> list[str]:
    """Return one sentence or two for each fact that speaks against the numbers."""
    windows, overlaps = study.windows, study.replications[0].overlaps
    sentences = [note.rstrip(".") + "." for note in overlaps.notes]
    if overlaps.granularity > 1:
        sentences.append(
            f"The trace tells overlaps to whole blocks of {overlaps.granularity:,} tokens."
        )
    sentences += [
        "Savings are of plans on overlaps alone: a request saves the deepest planned position that "
        "its overlap reaches, as if whoever came before had stored a state there. In a cache, a "
        "new plan helps only once a request has written it, and states of older plans still help; "
        "capacity, eviction and queues come on top. `milepost sweep` replays the same study.",
        "Depths of all prompts are pooled into one law, counted from the start, and one plan holds "
        "for prompts of every length.",
        _clairvoyant(study),
        f"The no-drift band keeps {windows.block} consecutive requests together. Dependence over "
        "more of them makes windows look farther apart than chance would put them.",
        _intervals(study),
        f"The first {windows.start(windows.first):,} requests are warm-up: shown in the law, not "
        "counted anywhere.",
    ]
    return sentences


def _clairvoyant(study: DriftStudy) -> str:
    if study.truth:
        return (
            "Clairvoyant re-planning knows the true law of the generator in the middle of each "
            "window, and plans once a window. Even without drift that law changes while prefixes "
            "are still new, which is seen as drift."
        )
    return (
        "Clairvoyant re-planning is hindsight: the best plan for the very requests of the coming "
        "window, not only for their law. So even the best estimator of a law that does not move "
        "stays behind."
    )


def _intervals(study: DriftStudy) -> str:
    if len(study.replications) > 1:
        return (
            f"Intervals are of {len(study.replications)} replications, differences paired. Law and "
            "distances are those of the first."
        )
    return (
        "There is one trace: intervals come from drawing blocks of windows again, and say what "
        "more of the same traffic would show, drift included."
    )
