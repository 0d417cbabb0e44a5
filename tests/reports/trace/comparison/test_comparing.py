"""What two traces differ in, against traces that were made to differ in just that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reports.trace.comparison.comparing import Comparison, compare_traces
from reports.trace.comparison.differences import Difference, judged
from reports.trace.comparison.sides import sides_of
from simulator.trace.trace import Trace
from tests.workloads.inspection.small_traces import trace_of
from workloads.slicing.cutting import by_requests
from workloads.synthetic import SyntheticSpec, generate


def traffic(
    seed: int, *, count: int = 240, length: float = 20.0, documents: int = 8, gap: float = 5.0
) -> Trace:
    """Return questions about `documents`, each of which all of its prompts begin with."""
    rng = np.random.default_rng(seed)
    prompts = []
    for at in range(count):
        document, own = int(rng.integers(documents)), 1 + int(rng.exponential(length))
        prompts.append([document] * 12 + [100 + at] * own)
    times = np.cumsum(rng.exponential(gap, count))
    outputs = (1 + rng.geometric(0.1, count)).tolist()
    return trace_of(prompts, times=(times - times[0]).tolist(), outputs=outputs)


def by_name(comparison: Comparison) -> dict[str, Difference]:
    return {each.name: each for each in comparison.differences}


def test_a_trace_and_itself_are_the_same() -> None:
    trace = traffic(1)
    comparison = compare_traces(trace, trace)
    assert {each.verdict for each in comparison.differences} == {"the same"}
    assert all(each.a == each.b for each in comparison.differences)


def test_longer_prompts_are_found_and_said() -> None:
    comparison = compare_traces(traffic(1), traffic(2, length=60.0))
    median = by_name(comparison)["prompt_median"]
    assert median.verdict == "beyond chance"
    assert median.a == np.quantile(traffic(1).prompt_tokens, 0.5, method="inverted_cdf")
    assert median.a is not None
    assert median.b is not None
    if median.b / median.a < 2:
        words = f"prompts are {100 * (median.b / median.a - 1):.0f} % longer at the median "
    else:
        words = f"prompts are {median.b / median.a:.3g} times as long at the median "
    assert median.sentence == f"{words}({median.a:.0f} -> {median.b:.0f} tokens)"
    assert by_name(comparison)["output_median"].verdict != "beyond chance"
    assert by_name(comparison)["rate"].verdict != "beyond chance"


def test_less_reuse_is_found_and_said() -> None:
    comparison = compare_traces(traffic(1), traffic(2, documents=150))
    share = by_name(comparison)["reusable_share"]
    assert share.verdict == "beyond chance"
    assert share.sentence.startswith("the reusable share of prompt tokens fell from ")
    assert by_name(comparison)["prompt_median"].verdict != "beyond chance"


def test_more_requests_are_found_and_said() -> None:
    comparison = compare_traces(traffic(1), traffic(2, gap=2.5))
    rate = by_name(comparison)["rate"]
    assert rate.verdict == "beyond chance"
    assert "more often" in rate.sentence or "times as often" in rate.sentence
    assert by_name(comparison)["gap_cv"].verdict != "beyond chance"


def labelled(seed: int, share: float) -> Trace:
    trace = traffic(seed)
    label = (np.random.default_rng(seed).random(len(trace)) < share).astype(np.int32)
    return replace(trace, labels=("chat", "co\nde"), label=label)


def test_another_mix_of_labels_is_found_and_said() -> None:
    one, other = labelled(1, 0.2), labelled(2, 0.6)
    mix = by_name(compare_traces(one, other))["label_mix"]
    assert mix.verdict == "beyond chance"
    assert mix.apart == pytest.approx(abs(one.label.mean() - other.label.mean()))
    assert "\n" not in mix.sentence
    swapped = replace(one, labels=("co\nde", "chat"), label=1 - one.label)
    assert by_name(compare_traces(one, swapped))["label_mix"].verdict == "the same"
    assert "label_mix" not in by_name(compare_traces(one, traffic(1)))


def test_the_important_comes_first() -> None:
    comparison = compare_traces(traffic(1), traffic(2, length=200.0, gap=4.0))
    order = ["beyond chance", "may be chance", "not tested", "the same"]
    ranks = [order.index(each.verdict) for each in comparison.differences]
    assert ranks == sorted(ranks)
    beyond = [each.size for each in comparison.of("beyond chance")]
    assert beyond == sorted(beyond, reverse=True)
    assert comparison.differences[0].name.startswith("prompt")


def test_reuse_is_compared_over_the_same_span() -> None:
    long = traffic(3, count=480, documents=100)
    short = by_requests(long, None, 240)
    comparison = compare_traces(long, short)
    assert by_name(comparison)["reusable_share"].verdict == "the same"
    assert any("Reuse grows with the length of a trace" in note for note in comparison.notes)
    assert "240 of 480 requests of A" in comparison.notes[1]


def test_two_parts_of_one_traffic_seldom_differ_beyond_chance() -> None:
    wrong = 0
    for seed in range(10):
        whole = generate(SyntheticSpec(seed=seed, requests=2400))
        parts = by_requests(whole, 1200, 1800), by_requests(whole, 1800, 2400)
        wrong += bool(compare_traces(*parts).of("beyond chance"))
    assert wrong <= 2


def test_a_much_longer_trace_has_units_of_bounded_number() -> None:
    short, long = trace_of([[1], [2]] * 20), trace_of([[at % 7] for at in range(9000)])
    one, other = sides_of(short, long)
    assert int(other.units["blocks"].max()) + 1 <= 2000
    assert int(one.units["blocks"].max()) + 1 == 8  # 40 requests in blocks of 5
    assert len(other.same) == len(one.same) == 40


def test_what_one_trace_alone_tells_is_noted() -> None:
    one = traffic(1)
    bare = replace(one, arrival_seconds=None, output_tokens=np.zeros(len(one), np.int64))
    comparison = compare_traces(one, bare)
    assert {"rate", "gap_cv", "output_median"} & by_name(comparison).keys() == set()
    assert "Only A tells outputs." in comparison.notes
    assert "Only A tells arrival times." in comparison.notes
    assert by_name(comparison)["reusable_share"].verdict == "the same"


@pytest.mark.parametrize(
    "trace",
    [
        trace_of([[1]]),
        trace_of([[1]], times=[0.0]),
        trace_of([[1], [1]], times=[0.0, 0.0]),
        trace_of([[1, 2], [3], [1, 2]], times=[0.0, 1.0, 2.0], session=[1, 1, 2]),
        trace_of([[at] for at in range(60)]),
        trace_of([[1]] * 60, times=[float(at) for at in range(60)], session=list(range(1, 61))),
    ],
    ids=["one", "one with a time", "one time", "three", "nothing shared", "one prompt"],
)
def test_the_poorest_traces_are_compared(trace: Trace) -> None:
    for one, other in ((trace, traffic(1)), (traffic(1), trace), (trace, trace)):
        comparison = compare_traces(one, other)
        assert comparison.differences
        assert all(
            0 < each.p_value <= 1 for each in comparison.differences if each.p_value is not None
        )


def test_verdicts_are_corrected_for_all_measures() -> None:
    one = Difference("x", "ratio", 1.0, 2.0, "tokens", 2.0, "x", p_value=0.03)
    alone = judged([one])
    among = judged([one, *(replace(one, name=f"y{at}", p_value=0.5) for at in range(4))])
    assert alone[0].verdict == "beyond chance"
    assert {each.verdict for each in among} == {"may be chance"}
    assert judged([replace(one, p_value=None)])[0].verdict == "not tested"
