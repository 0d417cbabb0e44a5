from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import nnls

from calibration.fit.bands import band, draw_forms
from calibration.fit.errors import errors_by_regime, mean_error_beyond, outliers
from calibration.fit.fit import Errors, fit_form, refit
from calibration.fit.form import REGIMES, CostForm, design, regimes
from calibration.fit.points import Int64, Points
from calibration.fit.sections import prefill_section, validation_section
from simulator.costs.cost_model import CostModel
from simulator.costs.profile import Profile, drawn, parse_profile

N = np.array([1, 16, 64, 65, 128, 512, 2048, 8192])
C = np.array([0, 1024, 4096, 16384, 65536])
# A floor of 5 ms, a step behind 64 tokens, then a cost per token that rises with n.
TRUTH = CostForm(N, np.array([4.0, 5.0, 5.0, 5.8, 6.2, 12.0, 44.0, 200.0]) * 1e-3, 2.1e-10, 3e-9)


def grid() -> tuple[Int64, Int64]:
    c, n = np.meshgrid(C, N)
    return c.ravel(), n.ravel()


def timed(
    truth: CostForm = TRUTH, noise: float = 0.0, repetitions: int = 1, seed: int = 0
) -> Points:
    c, n = grid()
    random = np.random.default_rng(seed)
    drawn_noise = random.normal(0, noise, (len(n), repetitions)) if noise else np.zeros((len(n), 1))
    return Points(c, n, truth.seconds(c, n)[:, None] * np.exp(drawn_noise))


def test_seconds_worked_by_hand() -> None:
    form = CostForm(np.array([10, 20]), np.array([100.0, 200.0]), 0.5, 0.25)
    c, n = np.array([0, 8, 0, 0]), np.array([10, 15, 5, 30])
    pairs = 0.5 * np.array([10 * 5, 15 * (8 + 7.5), 5 * 2.5, 30 * 15])
    # Constant below the first knot, straight on beyond the last.
    own = np.array([100, 150 + 0.25 * 8, 100, 300])
    assert form.seconds(c, n) == pytest.approx(own + pairs)


@pytest.mark.parametrize("errors", ["relative", "absolute"])
def test_known_coefficients_are_recovered(errors: Errors) -> None:
    form = fit_form(timed(), errors=errors)
    assert form.knots.tolist() == N.tolist()
    assert form.own_seconds == pytest.approx(TRUTH.own_seconds, rel=1e-6)
    assert form.pair_seconds == pytest.approx(TRUTH.pair_seconds, rel=1e-6)
    assert form.context_seconds == pytest.approx(TRUTH.context_seconds, rel=1e-5)


def test_a_straight_f_makes_e_too_large_and_a_table_does_not() -> None:
    c, n = grid()
    many = n >= 512
    points = timed().select(many & (c <= 4096))
    straight = fit_form(points, np.array([512, 8192]), context_term=False)
    table = fit_form(points)
    assert straight.pair_seconds > 2 * TRUTH.pair_seconds
    assert table.pair_seconds == pytest.approx(TRUTH.pair_seconds, rel=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["relative", "absolute"]))
def test_the_solution_is_that_of_a_dense_solver(seed: int, errors: Errors) -> None:
    points = timed(noise=0.3, repetitions=3, seed=seed)
    first = fit_form(points, errors=errors)
    form = refit(first, points, points.value, errors=errors, context_term=True)
    # The same problem written out: F is a sum of steps, and nothing is below zero.
    weight = 1 / first.seconds(points.c, points.n) if errors == "relative" else np.ones(len(points))
    matrix = design(N, points.c, points.n)
    steps = np.column_stack([matrix[:, at:-2].sum(axis=1) for at in range(len(N))])
    matrix = np.column_stack([steps, matrix[:, -2:]]) * weight[:, None]
    scale = np.linalg.norm(matrix, axis=0)
    solved, _ = nnls(matrix / scale, points.value * weight)
    theirs = np.linalg.norm(matrix / scale @ solved - points.value * weight)
    ours = np.linalg.norm((form.seconds(points.c, points.n) - points.value) * weight)
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert (np.diff(form.own_seconds) >= 0).all()
    assert min(form.pair_seconds, form.context_seconds) >= 0


def test_no_context_term_where_none_is_wanted() -> None:
    assert fit_form(timed(noise=0.1), context_term=False).context_seconds == 0.0


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (lambda c, n: c == 0, "several contexts at one n"),
        (lambda c, n: n == 64, "at least two different n"),
        (lambda c, n: (n == 64) & (c == 0), "at least two different n"),
        (lambda c, n: n < 0, "at least two different n"),
    ],
)
def test_points_that_cannot_tell_are_refused(
    where: Callable[[Int64, Int64], NDArray[np.bool_]], message: str
) -> None:
    c, n = grid()
    with pytest.raises(ValueError, match=message):
        fit_form(timed().select(where(c, n)))


def test_a_knot_without_points_is_refused() -> None:
    with pytest.raises(ValueError, match="around every knot"):
        fit_form(timed(), np.array([1, 20_000, 30_000]))


@pytest.mark.parametrize(
    ("c", "n", "seconds"),
    [
        ([0], [1, 2], [[1.0], [1.0]]),
        ([0], [1], [[1.0], [1.0]]),
        ([0], [1], [[]]),
        ([0], [0], [[1.0]]),
        ([-1], [1], [[1.0]]),
        ([0], [1], [[0.0]]),
        ([0], [1], [[float("nan")]]),
    ],
)
def test_points_are_checked(c: list[int], n: list[int], seconds: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"expected|differ"):
        Points(np.array(c), np.array(n), np.array(seconds))


def test_value_and_noise_worked_by_hand() -> None:
    seconds = np.array([[5.0, 1.0, 2.0, 4.0, 3.0]])
    c, n = np.array([0]), np.array([1])
    points = Points(c, n, seconds)
    assert (points.value[0], points.noise[0]) == (3.0, pytest.approx((4 - 2) / 2 / 3))
    best = Points(c, n, seconds, "minimum")
    assert (best.value[0], best.noise[0]) == (1.0, 1.0)
    assert Points(c, n, seconds[:, :1]).noise[0] == 0.0


def test_regimes() -> None:
    c, n = np.array([65536, 0, 0, 65536, 0]), np.array([1, 64, 65, 2048, 8192])
    names = [REGIMES[index] for index in regimes(TRUTH, c, n)]
    assert names == ["one token", "floor", "linear", "linear", "linear"]
    steep = CostForm(N, TRUTH.own_seconds, 1e-9)
    assert [REGIMES[index] for index in regimes(steep, c, n)][3] == "context"


def test_errors_worked_by_hand() -> None:
    c, n = np.array([0, 0, 0]), np.array([1, 64, 128])
    seconds = TRUTH.seconds(c, n)
    points = Points(c, n, (seconds / np.array([1.1, 0.8, 1.0]))[:, None])
    everything, one, floor, linear = errors_by_regime(TRUTH, points)
    assert everything.points == 3
    assert everything.mean == pytest.approx(0.1)
    assert everything.bias == pytest.approx(-0.1 / 3)
    assert (everything.worst, everything.worst_n) == (pytest.approx(-0.2), 64)
    assert (one.regime, floor.regime, linear.regime) == REGIMES[:3]
    assert one.mean == pytest.approx(0.1)
    assert mean_error_beyond(TRUTH, points, 64) == pytest.approx(0.1)
    assert mean_error_beyond(TRUTH, points, 4096) == 0.0
    assert errors_by_regime(TRUTH, points.select(points.n > 999)) == []


def test_the_outlier_is_named() -> None:
    points = timed(noise=0.01, repetitions=5)
    points.seconds[17] *= 1.5
    form = fit_form(points)
    outlying = outliers(form, points)
    assert (outlying[0][0], outlying[0][1]) == (points.c[17], points.n[17])
    assert outlying[0][2] < -0.2
    assert outliers(TRUTH, points.select(points.n < 0)) == []
    assert outliers(fit_form(timed()), timed()) == []


def test_draws_are_the_same_again_and_differ_by_seed() -> None:
    points = timed(noise=0.05)
    form = fit_form(points)
    first, again = (draw_forms(form, points, seed=3, draws=5) for _ in range(2))
    other = draw_forms(form, points, seed=4, draws=5)
    assert all(
        (a.coefficients() == b.coefficients()).all() for a, b in zip(first, again, strict=True)
    )
    assert any(
        (a.coefficients() != b.coefficients()).any() for a, b in zip(first, other, strict=True)
    )


def test_bands_cover_the_truth() -> None:
    """Of 95 % bands, over 40 noisy calibrations of 40 points, 91 to 93 % are right."""
    c, n = np.array([0, 1024, 16384, 65536]), np.array([40, 300, 1500, 8192])
    covered = []
    for seed in range(40):
        points = timed(noise=0.05, seed=seed)
        form = fit_form(points)
        low, high = band(draw_forms(form, points, seed=seed, draws=80), c, n)
        truth = TRUTH.seconds(c, n)
        covered.append((low <= truth) & (truth <= high))
    assert 0.87 <= float(np.mean(covered)) <= 0.99


def profile_of(points: Points, form: CostForm, draws: list[CostForm]) -> Profile:
    data = {
        "schema_version": 1,
        "profile_id": "fitted",
        "kind": "toy",
        "source": "a test",
        "licence": "Apache-2.0",
        "created": "2026-11-30",
        "hardware": {"name": "none"},
        "model": {"name": "toy"},
        "state": {"ssm_bytes": 1, "conv_bytes": 0, "bytes_per_checkpoint": 1},
        "kv": {"bytes_per_token": 8},
        "prefill": prefill_section(form, points, draws),
        "checkpoint": {"cut_overhead": "prefill_table", "snapshot_us_per_mib": 0.0},
        "io": {"d2d": {"latency_us": 0.0, "gbps": 1.0}},
        "validation": validation_section(form, points, points, draws),
    }
    return parse_profile(data, "fitted")


def test_a_profile_says_what_the_form_says() -> None:
    points = timed(noise=0.05, repetitions=3)
    form = fit_form(points)
    draws = draw_forms(form, points, seed=0, draws=4)
    profile = profile_of(points, form, draws)
    c = np.array([0, 5, 1024, 70_000, 0, 10])
    n = np.array([1, 40, 64, 3000, 9000, 65])
    for fitted, priced in [(form, profile), *((d, drawn(profile, k)) for k, d in enumerate(draws))]:
        costs = CostModel(priced)
        seconds = [
            costs.prefill_seconds(a, a + b) for a, b in zip(c.tolist(), n.tolist(), strict=True)
        ]
        assert seconds == pytest.approx(fitted.seconds(c, n).tolist(), rel=1e-6)
    assert (profile.valid_n_max, profile.valid_c_max) == (8192, 65536)
    assert profile.validation is not None
    assert profile.validation.held_out[0].regime == "all"
    assert 0.001 < (profile.validation.band or 0) < 0.1


def test_no_pass_takes_no_time() -> None:
    c, n = np.array([0, 100, 0, 100]), np.array([10, 10, 1000, 1000])
    points = Points(c, n, (1e-9 * n * (c + n / 2))[:, None])  # pairs alone
    form = fit_form(points)
    assert form.own_seconds == pytest.approx([0.0, 0.0], abs=1e-12)
    assert profile_of(points, form, [form]).prefill.F.us == (1e-3, 1e-3)


def test_minima_are_stored_beside_the_medians() -> None:
    points = timed(noise=0.05, repetitions=3)
    best = Points(points.c, points.n, points.seconds, "minimum")
    section = prefill_section(fit_form(best), best)
    assert section["fitted"] == pytest.approx((best.seconds.min(axis=1) * 1e6).tolist())
    assert section["median"] == pytest.approx((np.median(best.seconds, axis=1) * 1e6).tolist())
    assert "fitted" not in prefill_section(fit_form(points), points)


def test_the_fit_runs_beside_torch_alone() -> None:
    blocked = ["simpy", "polars", "altair", "pydantic", "msgspec", "rich", "typer"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({blocked!r}));"
        "import calibration.fit.sections, calibration.catalogue"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
