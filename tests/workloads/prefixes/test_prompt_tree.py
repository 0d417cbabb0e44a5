from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workloads.prefixes.prompt_tree import PromptTree
from workloads.prefixes.token_lists import TokenTree

TURN = st.tuples(
    st.integers(0, 3),  # the session
    st.floats(0, 1),  # how much of its context is kept
    st.integers(1, 6),  # new tokens
    st.integers(0, 4),  # of the answer
)


@given(st.lists(TURN, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_prompts_that_go_on_from_each_other_make_the_tree_of_their_tokens(turns, random):
    """Oracle: the tokens written out, each new one a number of its own."""
    tree, context, histories = PromptTree(), dict.fromkeys(range(4), 0), dict.fromkeys(range(4), ())
    prompts, answers, fresh = [], [], iter(range(10_000))
    for session, share, new, answer in turns:
        kept = int(share * len(histories[session]))
        prompt = (*histories[session][:kept], *(next(fresh) for _ in range(new)))
        histories[session] = (*prompt, *(next(fresh) for _ in range(answer)))
        leaf = tree.extend(tree.cut(context[session], kept), new)
        context[session] = tree.extend(leaf, answer)
        tree.add(leaf, context[session])
        prompts.append(prompt)
        answers.append(histories[session])
    order = np.array(random.sample(range(len(turns)), len(turns)))
    lengths = np.array([len(prompts[at]) for at in order])
    interned = tree.intern(lengths, order)
    assert interned.tree.problem() is None
    assert interned.tree.stop[interned.leaf].tolist() == lengths.tolist()
    known = TokenTree()
    ends = [
        known.add(np.array(tokens, dtype=np.int32))
        for at in order
        for tokens in (prompts[at], answers[at])
    ]
    wanted, numbers = known.numbered(ends)
    assert interned.tree.parent.tolist() == wanted.parent.tolist()
    assert interned.tree.stop.tolist() == wanted.stop.tolist()
    assert interned.leaf.tolist() == numbers[ends[::2]].tolist()
    assert interned.after is not None
    assert interned.after.tolist() == numbers[ends[1::2]].tolist()


def test_a_split_node_keeps_its_number_and_its_end():
    tree = PromptTree()
    end = tree.extend(0, 10)
    middle = tree.cut(end, 4)
    assert (tree.stop[middle], tree.stop[end], tree.parent[end]) == (4, 10, middle)
    assert tree.cut(end, 10) == end
    assert tree.cut(end, 4) == middle
    assert tree.cut(end, 0) == 0
