"""The inner state of least loss, against a look at all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.orders.inner import NEVER, InnerStates
from tests.policies.eviction.hand import root, span_below, state_in

STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "drop", "drop", "pin", "cut"]), st.integers(1, 29)),
    max_size=40,
)


def least_of(span):
    """Return the least loss and whose it is, the deepest of several, by brute force."""
    states = span.checkpoints
    losses = [
        (
            (state.position - above.position) * (below.position - state.position) / 10,
            -state.position,
            state,
        )
        for above, state, below in zip(states, states[1:], states[2:], strict=False)
        if not state.pins
    ]
    loss, _, state = min(losses, default=(NEVER, 0, span))
    return loss, state


@given(st.sets(st.integers(1, 30)), STEPS)
def test_it_is_found_whatever_comes_and_goes(positions, steps):
    spans, inner = [span_below(root(), 30)], InnerStates()
    for position in positions:
        state_in(spans[0], position)
    for step, position in steps:
        span = next(span for span in spans if span.start < position <= span.stop)
        state = span.deepest_checkpoint(position)
        if step == "cut" and position < span.stop:
            spans.append(span.cut(position, 0))
            inner.split(spans[-1], span)
        elif step == "add" and (state is None or state.position < position):
            state_in(span, position)
        elif step == "drop" and state is not None:
            span.remove(state)
            state.resident = False
            inner.note_gone(state)
        elif step == "pin" and state is not None:
            state.pins = 1 - state.pins
        for span in spans:
            assert inner.least(span, span.checkpoints) == least_of(span)
