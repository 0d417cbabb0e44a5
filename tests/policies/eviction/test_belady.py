"""Looking ahead in the prefix cache."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.eviction import EVICTION
from policies.eviction.belady import Belady
from policies.foresight import NEVER
from simulator.plugins.entries import KvSpan
from tests.simulator.placers import Wanted
from tests.simulator.replays import replay

PROMPTS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=15
)


class Recording(Belady):
    """Notes what is said of each entry when it is used."""

    def begin(self, context):
        super().begin(context)
        foresee = self.next_use
        self.foreseen = []

        def note(entry):
            self.foreseen.append((entry, foresee(entry)))
            return self.foreseen[-1][1]

        self.next_use = note


def run(prompts, eviction, capacity, server="instant"):
    arrivals = [float(i // 3) for i in range(len(prompts))]
    how = {"eviction": eviction, "capacity_bytes": capacity, "server": server}
    return replay(prompts, arrivals, lambda: Wanted(2, end=True), **how)


@given(PROMPTS, st.sampled_from(["instant", "queue"]))
def test_the_next_use_is_that_of_the_next_prompt_through_the_entry(prompts, server):
    policy = Recording()
    run(prompts, lambda: policy, 10**6, server)
    request, done = -1, True
    for entry, next_use in policy.foreseen:
        if isinstance(entry, KvSpan):
            request += done  # with room for all, each request reports its path, leaf first
            done = entry.start == 0
        stop = entry.stop if isinstance(entry, KvSpan) else entry.span.stop
        begins = prompts[request][:stop]
        later = (n for n in range(request + 1, len(prompts)) if prompts[n][:stop] == begins)
        assert next_use == next(later, NEVER)
    assert request == len(prompts) - 1


def test_who_may_refuse_keeps_what_comes_back_from_what_does_not():
    # Room for one prompt of 24 bytes: the second must not displace the first.
    prompts = [(1, 1, 1, 1), (2, 2, 2, 2), (1, 1, 1, 1, 5)]
    runs = {name: run(prompts, EVICTION[name], 24) for name in ("belady", "clairvoyant")}
    saved = {name: result.columns["saved_tokens"].tolist() for name, result in runs.items()}
    assert saved == {"belady": [0, 0, 0], "clairvoyant": [0, 0, 4]}


def test_it_keeps_what_comes_back():
    # Four tokens of KV and two states of 10: a prompt takes 24 bytes, and there is room for two.
    prompts = [(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (1, 1, 1, 1, 5)]
    saved = {}
    for name in ("lru", "belady"):
        result = run(prompts, EVICTION[name], 48)
        saved[name] = int(result.columns["saved_tokens"].sum())
    assert saved == {"lru": 0, "belady": 4}
