"""Shrinkage by hand."""

from __future__ import annotations

import pytest

from policies.estimation import MixtureEstimator
from policies.registry import create
from simulator.base.errors import UsageError
from simulator.plugins.protocols import Law, Overlap


def shares(law: Law) -> dict[int, float]:
    return {0: law.misses} | dict(zip(law.depths.tolist(), law.weights.tolist(), strict=True))


def test_a_document_is_shrunk_to_its_label_and_that_to_all() -> None:
    estimator = MixtureEstimator(shrinkage=2.0)
    for depth, label, session in [(10, 0, 0), (10, 0, 0), (20, 0, 1), (0, 1, 2)]:
        estimator.observe(Overlap(depth, 100, session, label))
    assert len(estimator.law_for(label=0).depths) == 0  # not yet
    estimator.settle()
    assert shares(estimator.law()) == {0: 1, 10: 2, 20: 1}
    everything = {0: 0.25, 10: 0.5, 20: 0.25}
    assert shares(estimator.law_for()) == pytest.approx(everything)
    assert shares(estimator.law_for(label=7, session=7)) == pytest.approx(everything)
    # label 0 has 3 observations: (3 p + 2 q) / 5
    label = {0: 0.1, 10: (2 + 1.0) / 5, 20: (1 + 0.5) / 5}
    assert shares(estimator.law_for(label=0)) == pytest.approx(label)
    # session 0 has 2, all at 10: (2 p + 2 q) / 4
    document = {0: 0.05, 10: (2 + 2 * 0.6) / 4, 20: 0.15}
    assert shares(estimator.law_for(label=0, session=0)) == pytest.approx(document)


def test_many_observations_outweigh_the_prior() -> None:
    estimator = MixtureEstimator(requests=1000, shrinkage=10.0)
    for _ in range(500):
        estimator.observe(Overlap(10, 100, session=1))
        estimator.observe(Overlap(90, 100, session=2))
    estimator.settle()
    assert shares(estimator.law_for(session=1))[10] == pytest.approx((500 + 5) / 510)


def test_what_is_unseen_for_longest_is_forgotten() -> None:
    estimator = MixtureEstimator(documents=2)
    for session, depth in [(1, 10), (2, 20), (1, 10), (3, 30)]:
        estimator.observe(Overlap(depth, 100, session))
    estimator.settle()
    assert shares(estimator.law_for(session=2)) == shares(estimator.law_for())
    assert shares(estimator.law_for(session=1)) != shares(estimator.law_for())


def test_it_is_empty_before_the_first_observation() -> None:
    assert len(MixtureEstimator().law_for(label=1, session=1).depths) == 0


def test_bad_parameters_are_named() -> None:
    for spec, message in (
        ("mixture:shrinkage=0", "shrinkage: expected above 0"),
        ("mixture:documents=0", "documents: expected 1 or more"),
        ("mixture:requests=0", "requests: expected 1 to 1000000"),
    ):
        with pytest.raises(UsageError, match=message):
            create("estimator", spec)
