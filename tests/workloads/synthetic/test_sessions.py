"""Chats, agents and trees of thought hold to their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.workloads.laws import assert_counts, assert_mean, assert_share
from workloads.arrivals import Poisson
from workloads.drift import Drift, read_drift
from workloads.inspection import overlaps
from workloads.synthetic import Agents, Chats, Documents, SystemPrompts, Thoughts, read_generator
from workloads.synthetic.draws import ANSWER_SECONDS_PER_TOKEN

SEVERAL = 4000
EACH = [
    Chats(turns_mean=6.0),
    Agents(steps_mean=9.0, subagent_share=0.3, subagent_steps_mean=4.0),
    Thoughts(depth=4, branching=3, samples=5, beam=7),
    read_generator("2 documents + 1 chats:turns_mean=4 + 1 agents:steps_mean=6"),
]


def drawn(generator, sessions=SEVERAL, drift=None):
    return generator.sessions(1, drift or Drift(), np.linspace(0, 1, sessions))


@pytest.mark.parametrize("generator", EACH, ids=lambda generator: generator.name)
def test_the_mean_number_of_requests_a_session_is_the_one_told(generator):
    each = np.bincount(drawn(generator).session, minlength=SEVERAL)
    if isinstance(generator, Thoughts):
        # 1, 3, 7 and 7 nodes
        assert set(each.tolist()) == {5 * 18} == {int(generator.requests_per_session)}
    else:
        assert_mean(each, generator.requests_per_session)


def test_turns_of_chats_are_geometric():
    turns = np.bincount(drawn(Chats(turns_mean=3.0)).session)
    law = stats.geom(1 / 3)
    assert_counts(np.bincount(turns, minlength=40)[1:40], SEVERAL * law.pmf(np.arange(1, 40)))


def test_a_turn_waits_for_the_answer_and_a_lognormal_thought():
    chats = drawn(Chats(think_seconds_median=30.0))
    follows = np.flatnonzero(np.diff(chats.session) == 0)
    pause = np.diff(chats.delay_seconds)[follows]
    think = pause - ANSWER_SECONDS_PER_TOKEN * chats.output_tokens[follows]
    assert stats.kstest(np.log(think / 30) / 0.8, stats.norm.cdf).pvalue > 0.001


def test_lengths_have_the_medians_told():
    chats = drawn(Chats(answer_tokens_median=500))
    assert_share(int((chats.output_tokens <= 500).sum()), len(chats.output_tokens), 0.5)
    texts = Documents(count=4000, tokens_median=700).catalogue(1, Drift()).tokens
    assert_share(int((texts < 700).sum()), texts.size, 0.5)
    spread = np.log(texts / 700)[(texts > 100) & (texts < 5000)]
    assert stats.kstest(spread / 0.4, stats.norm.cdf).pvalue > 0.001


@pytest.mark.parametrize(
    "generator", [Chats(), Agents(subagent_share=0.2)], ids=["chats", "agents"]
)
def test_the_next_prompt_contains_the_last_and_its_answer(generator):
    trace = generator.trace(1500, 2, Poisson(1.0), Drift())
    assert trace.after is not None
    overlap = overlaps(trace)
    last: dict[int, list[int]] = {}
    followed = 0
    for at, session in enumerate(trace.session.tolist()):
        ends = trace.tree.stop[trace.after[last.get(session, [])]]
        path = set(trace.tree.path(int(trace.leaf[at])))
        before = [
            e for e, n in zip(ends, last.get(session, []), strict=True) if trace.after[n] in path
        ]
        if before:
            assert overlap[at] == max(before)
            followed += 1
        last.setdefault(session, []).append(at)
    sessions = len(last)
    subagents = np.count_nonzero(trace.label == 1)
    assert followed >= 1500 - sessions - subagents
    assert followed > 900


def test_later_turns_save_what_the_law_says():
    # the mean of a lognormal length, far from its bounds and from one token
    user, answer = 4000 * math.exp(0.18), 6000 * math.exp(0.18)
    chats = Chats(
        count=1,
        system_tokens_sigma=0,
        turns_mean=3,
        user_tokens_median=4000,
        answer_tokens_median=6000,
    )
    traffic = drawn(chats)
    follows = np.append(False, np.diff(traffic.session) == 0)
    saved = np.bincount(traffic.session, np.where(follows, traffic.stops[:, -2], 0))
    # T geometric of mean 3: E[T - 1] = 2, and E[sum of t - 1 for t = 2..T] = E[T (T - 1)] / 2 = 6
    assert_mean(saved, 2 * 2001 + 6 * (user + answer))


def test_an_agent_waits_for_its_sub_agent_and_gets_what_it_returns():
    generator = Agents(steps_mean=6.0, subagent_share=0.5, subagent_steps_mean=3.0)
    agents = drawn(generator, 300)
    main, sub = np.flatnonzero(agents.label == 0), np.flatnonzero(agents.label == 1)
    prefix = generator.subagent_prefix_tokens
    starts = sub[agents.stops[sub, -2] == prefix]
    assert len({*agents.keys[starts, -2].tolist()}) == 1  # a prefix that all of them share
    follows = main[:-1][np.diff(agents.session[main]) == 0]
    assert_share(len(starts), len(follows), 0.5)
    ends = agents.delay_seconds + ANSWER_SECONDS_PER_TOKEN * agents.output_tokens
    for session in range(300):
        mine = main[agents.session[main] == session]
        gaps = list(zip(ends[mine], agents.delay_seconds[mine][1:], strict=False))
        for at in sub[agents.session[sub] == session]:
            within = [
                low <= agents.delay_seconds[at] and ends[at] <= high + 1e-9 for low, high in gaps
            ]
            assert sum(within) == 1
    # contexts only grow
    assert (np.diff(agents.stops[main, -1])[np.diff(agents.session[main]) == 0] > 0).all()


def test_samples_share_their_prompt_and_children_go_on_from_a_thought():
    generator = Thoughts(depth=3, branching=2, samples=3, beam=3)
    thoughts = drawn(generator, 50)
    nodes, samples = [1, 2, 3], 3
    level_of = np.repeat(np.arange(3), [50 * n * samples for n in nodes])
    for level, count in enumerate(nodes):
        rows = np.flatnonzero(level_of == level)
        prompts = thoughts.keys[rows, -1].reshape(50 * count, samples)
        assert (prompts == prompts[:, :1]).all()
        delays = thoughts.delay_seconds[rows].reshape(50, -1)
        assert (delays == delays[:, :1]).all()
        if not level:
            continue
        above = np.flatnonzero(level_of == level - 1)
        ended = dict(zip(thoughts.answer_key[above].tolist(), above.tolist(), strict=True))
        parents = [ended[key] for key in thoughts.keys[rows, -2].tolist()]
        assert (thoughts.session[parents] == thoughts.session[rows]).all()
        written = thoughts.delay_seconds[parents] + (
            ANSWER_SECONDS_PER_TOKEN * thoughts.output_tokens[parents]
        )
        assert (thoughts.delay_seconds[rows] >= written - 1e-9).all()
        tokens = thoughts.stops[parents, -1] + thoughts.output_tokens[parents]
        assert (thoughts.stops[rows, -1] == tokens + generator.instruction_tokens).all()
        assert len(set(parents)) == 50 * count


def test_the_shares_of_a_mixture_are_shares_of_requests():
    mixture = read_generator("0.5 documents + 0.3 chats + 0.2 system_prompts")
    traffic = drawn(mixture, 30_000)
    assert mixture.trace_labels() == ("question", "chat", "system")
    each = np.zeros((30_000, 3))
    np.add.at(each, (traffic.session, traffic.label), 1)
    for kind, share in enumerate((0.5, 0.3, 0.2)):
        # a ratio of means over sessions: its residuals have a mean of zero
        assert_mean(each[:, kind] - share * each.sum(axis=1), 0.0)


def test_kinds_of_a_mixture_share_nothing():
    trace = read_generator("1 documents + 1 documents:count=3 + 1 system_prompts").trace(
        600, 1, Poisson(1.0), Drift()
    )
    assert trace.labels == ("question", "system")
    roots = np.array([trace.tree.path(leaf)[0] for leaf in trace.leaf.tolist()])
    assert not set(roots[trace.label == 0]) & set(roots[trace.label == 1])


def test_the_rate_is_that_of_requests():
    for generator in (Chats(think_seconds_median=1.0), SystemPrompts()):
        times = generator.trace(40_000, 4, Poisson(5.0), Drift()).arrival_seconds
        assert times is not None
        middle = times[(times > times[-1] / 4) & (times < times[-1] * 3 / 4)]
        per_ten = np.bincount((middle - middle[0]).astype(np.int64) // 100)[:-1]
        assert_mean(per_ten, 500.0)


def test_growth_reaches_the_turns_of_chats():
    chats = drawn(Chats(turns_mean=1.0), 20_000, read_drift("growth:factor=4,steps=1"))
    user = chats.stops[:, -1] - chats.stops[:, :-1].max(axis=1)
    half = len(user) // 2
    assert_share(int((user[:half] <= 120).sum()), half, 0.5)
    assert_share(int((user[half:] <= 480).sum()), half, 0.5)
